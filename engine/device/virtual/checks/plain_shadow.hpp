#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace evo::ptx {

/// Which CTAs wrote and read the places of a buffer, in a launch whose kernel has neither atomics
/// nor strong accesses: nothing orders its CTAs, so that it does not matter when they did so. Takes
/// an eighth of the memory that GlobalRaces::Word does, which is what elementwise kernels wait for.
///
/// A CTA is its number + 1; 0: none. Whoever calls holds the lock of the place.
class PlainShadow {
 public:
  /// Throws std::bad_alloc where the host has no memory.
  explicit PlainShadow(std::uint64_t places);

  [[nodiscard]] std::uint32_t writer(std::size_t place) const { return writers_.get()[place]; }

  /// Notes a write. Gives another CTA that wrote or read there before, or 0.
  std::uint32_t write(std::size_t place, std::uint32_t cta);
  /// Notes writes of `count` places where no other CTA was in any of them; else notes nothing and
  /// gives false.
  [[nodiscard]] bool write_all(std::size_t first, std::size_t count, std::uint32_t cta);
  /// Notes a read. Gives another CTA that wrote there before, or 0.
  std::uint32_t read(std::size_t place, std::uint32_t cta);

 private:
  struct Readers {
    std::uint32_t last;
    std::uint32_t other;  ///< the last one that is not `last`
  };
  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };

  // Pages that nothing touches take no memory; of a buffer that nobody reads, those of the readers.
  std::unique_ptr<std::uint32_t, Freed> writers_;
  std::unique_ptr<Readers, Freed> readers_;
  /// Set before the first reader of any place is noted.
  std::atomic<bool> is_read_{false};
};

}  // namespace evo::ptx
