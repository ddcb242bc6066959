#pragma once

#include <cstddef>
#include <cstdint>

// What the addresses of a warp's lanes have in common.

namespace evo::ptx {

enum class LanePattern : std::uint8_t {
  kScattered,
  kUniform,     ///< all 32 lanes at one address
  kContiguous,  ///< all 32 lanes, each just behind the one before
};

struct LaneSurvey {
  std::uint64_t bits = 0;  ///< set in any of the addresses
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  LanePattern pattern = LanePattern::kScattered;
};

/// Of the lanes of `mask`, at least one, that access `bytes` bytes each. `address`: of all 32.
[[nodiscard]] LaneSurvey survey_lanes(const std::uint64_t* address, std::uint32_t mask,
                                      std::uint32_t bytes);

/// pointer[lane] = memory + (address[lane] − base), for the lanes of `mask`.
void point_lanes(const std::uint64_t* address, std::uint32_t mask, std::uint64_t base,
                 std::byte* memory, std::byte** pointer);

}  // namespace evo::ptx
