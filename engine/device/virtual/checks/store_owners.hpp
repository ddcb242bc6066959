#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// Records which CTA of a launch stores to each part of a buffer, for some buffers. Thread-safe.
class StoreOwners {
 public:
  /// Limit of host memory for the records of one launch.
  static constexpr std::uint64_t kMostBytes = 1ULL << 30;

  [[nodiscard]] static std::uint64_t bytes_for(std::span<const GlobalBuffer* const> buffers,
                                               int granule);

  /// `granule`: the size of a recorded part, in bytes (Program::global_granule).
  StoreOwners(std::span<const GlobalBuffer* const> buffers, int granule);

  /// Records a store of `bytes` bytes by `cta` (linear index below 2^32 − 1).
  void note(std::uint64_t address, std::uint32_t bytes, std::uint64_t cta);

  /// True if several CTAs store to the same part of a buffer.
  [[nodiscard]] bool has_overlaps() const { return overlaps_.load(); }
  /// True if the launch stored to a buffer that is not recorded or to a variable of the kernel.
  [[nodiscard]] bool went_elsewhere() const { return elsewhere_.load(); }
  /// For each granule of buffer number `position`: the linear index of the first CTA that stored to
  /// it, plus 1; 0 if no CTA did.
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
