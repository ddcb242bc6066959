#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace evo::ptx {

/// Records which CTAs wrote and read each granule (`place`) of a buffer, for a kernel that has
/// neither strong accesses to global memory nor clusters. No instruction orders the CTAs of such a
/// kernel, so a PlainShadow does not record the times of accesses. For a buffer that is only
/// written, a PlainShadow takes an eighth of the memory of the shadow words (GlobalRaces::Word),
/// whose memory traffic is the bottleneck for elementwise kernels.
///
/// A CTA is stored as its linear index plus 1; 0 means that there was no access. Callers must hold
/// the lock of the stripe that contains the granule.
class PlainShadow {
 public:
  /// Throws std::bad_alloc if the host has too little memory.
  explicit PlainShadow(std::uint64_t places);

  [[nodiscard]] std::uint32_t writer(std::size_t place) const { return writers_.get()[place]; }

  /// Records a write. Returns the index plus 1 of another CTA that wrote or read the granule
  /// before, or 0.
  std::uint32_t write(std::size_t place, std::uint32_t cta);
  /// Records writes of `count` granules if no other CTA accessed any of them; otherwise records
  /// nothing and returns false.
  [[nodiscard]] bool write_all(std::size_t first, std::size_t count, std::uint32_t cta);
  /// Records a read. Returns the index plus 1 of another CTA that wrote the granule before, or 0.
  std::uint32_t read(std::size_t place, std::uint32_t cta);

 private:
  struct Readers {
    std::uint32_t last;
    std::uint32_t other;  ///< the last reader other than `last`
  };
  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };

  // Pages that are never accessed, such as those of readers_ for a buffer that no CTA reads, take
  // no memory.
  std::unique_ptr<std::uint32_t, Freed> writers_;
  std::unique_ptr<Readers, Freed> readers_;
  /// Set before the first reader of a granule in this buffer is recorded.
  std::atomic<bool> is_read_{false};
};

}  // namespace evo::ptx
