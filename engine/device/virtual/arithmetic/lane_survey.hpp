#pragma once

#include <cstddef>
#include <cstdint>

// Common properties of the addresses of a warp's lanes.

namespace evo::ptx {

enum class LanePattern : std::uint8_t {
  kScattered,
  kUniform,     ///< all 32 lanes access one address
  kContiguous,  ///< all 32 lanes access consecutive elements
};

struct LaneSurvey {
  std::uint64_t bits = 0;  ///< bitwise OR of the addresses
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  LanePattern pattern = LanePattern::kScattered;
};

/// Surveys the addresses of the lanes in `mask`, which must not be 0, for accesses of `bytes`
/// bytes. `address` points to the addresses of all 32 lanes.
[[nodiscard]] LaneSurvey survey_lanes(const std::uint64_t* address, std::uint32_t mask,
                                      std::uint32_t bytes);

/// Sets pointer[lane] = memory + (address[lane] − base) for the lanes of `mask`.
void point_lanes(const std::uint64_t* address, std::uint32_t mask, std::uint64_t base,
                 std::byte* memory, std::byte** pointer);

}  // namespace evo::ptx
