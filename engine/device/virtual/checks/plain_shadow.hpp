#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace evo::ptx {

/// Records which CTAs wrote and read each place of a buffer, for a kernel without atomics and
/// strong accesses. No instruction orders the CTAs of the kernel, so times of accesses are not
/// needed. PlainShadow takes an eighth of the memory of GlobalRaces::Word, whose memory traffic is
/// the bottleneck for elementwise kernels.
///
/// A CTA is stored as its linear index + 1; 0 means no CTA. Callers must hold the lock of the
/// place.
class PlainShadow {
 public:
  /// Throws std::bad_alloc if the host has too little memory.
  explicit PlainShadow(std::uint64_t places);

  [[nodiscard]] std::uint32_t writer(std::size_t place) const { return writers_.get()[place]; }

  /// Records a write. Returns another CTA that wrote or read the place before, or 0.
  std::uint32_t write(std::size_t place, std::uint32_t cta);
  /// Records writes of `count` places if no other CTA accessed any of them; otherwise records
  /// nothing and returns false.
  [[nodiscard]] bool write_all(std::size_t first, std::size_t count, std::uint32_t cta);
  /// Records a read. Returns another CTA that wrote the place before, or 0.
  std::uint32_t read(std::size_t place, std::uint32_t cta);

 private:
  struct Readers {
    std::uint32_t last;
    std::uint32_t other;  ///< the last CTA other than `last`
  };
  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };

  // Pages that are never accessed take no memory, such as readers' pages of a buffer without reads.
  std::unique_ptr<std::uint32_t, Freed> writers_;
  std::unique_ptr<Readers, Freed> readers_;
  /// Set before the first reader of a place in this buffer is recorded.
  std::atomic<bool> is_read_{false};
};

}  // namespace evo::ptx
