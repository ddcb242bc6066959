#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// Notes which CTA of a launch stores to which part of some buffers. May be told by several threads
/// at once.
class StoreOwners {
 public:
  /// The host's memory for the notes of one launch.
  static constexpr std::uint64_t kMostBytes = 1ULL << 30;

  [[nodiscard]] static std::uint64_t bytes_for(std::span<const GlobalBuffer* const> buffers,
                                               int granule);

  /// `granule`: bytes that are noted together, the narrowest access of the kernel.
  StoreOwners(std::span<const GlobalBuffer* const> buffers, int granule);

  /// A store of `bytes` bytes by `cta` (linear index below 2^32 − 1).
  void note(std::uint64_t address, std::uint32_t bytes, std::uint64_t cta);

  /// Some part is stored to by several CTAs.
  [[nodiscard]] bool has_overlaps() const { return overlaps_.load(); }
  /// Something was stored to another buffer or a variable of the kernel.
  [[nodiscard]] bool went_elsewhere() const { return elsewhere_.load(); }
  /// Of the buffer at `position`, by granule: the linear index of a CTA plus 1, 0 for nobody.
  [[nodiscard]] std::vector<std::uint32_t> owners(std::size_t position) const;

 private:
  struct Part {
    const GlobalBuffer* buffer;
    std::size_t granules;
    std::unique_ptr<std::atomic<std::uint32_t>[]> owner;
  };

  int shift_;
  std::vector<Part> parts_;
  std::atomic<bool> overlaps_{false};
  std::atomic<bool> elsewhere_{false};
};

}  // namespace evo::ptx
