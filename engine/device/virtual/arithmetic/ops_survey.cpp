#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
#include "engine/device/virtual/arithmetic/simd_survey.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
// clang-format on

namespace evo::ptx::EVO_SIMD {
namespace {

/// Address of the lane, or of the first lane of the mask where it takes no part.
EVO_INLINE void fill_others(const std::uint64_t* address, std::uint32_t mask, std::uint64_t* all) {
  const std::uint64_t first = address[__builtin_ctz(mask)];
  for (int l = 0; l < kWarpSize; ++l) all[l] = ((mask >> l) & 1U) != 0 ? address[l] : first;
}

}  // namespace

LaneSurvey survey_lanes(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes) {
  alignas(32) std::uint64_t filled[kWarpSize];
  const std::uint64_t* all = address;
  if (mask != kAllLanes) {
    fill_others(address, mask, filled);
    all = filled;
  }
  LaneSurvey survey;
  std::uint64_t uneven = 0;
  std::uint64_t apart = 0;
  for (std::uint64_t l = 0; l < kWarpSize; ++l) {
    survey.bits |= all[l];
    uneven |= all[l] ^ all[0];
    apart |= all[l] ^ (all[0] + l * bytes);
  }
  if (uneven == 0 || apart == 0) {
    // The last lane lies before the first where addresses wrap around.
    const std::uint64_t last = all[kWarpSize - 1];
    survey.lowest = all[0] < last ? all[0] : last;
    survey.highest = all[0] < last ? last : all[0];
    if (mask == kAllLanes) {
      survey.pattern = uneven == 0 ? LanePattern::kUniform : LanePattern::kContiguous;
    }
    return survey;
  }
  std::uint64_t lowest = all[0];
  std::uint64_t highest = all[0];
  for (int l = 0; l < kWarpSize; ++l) {
    lowest = all[l] < lowest ? all[l] : lowest;
    highest = all[l] > highest ? all[l] : highest;
  }
  survey.lowest = lowest;
  survey.highest = highest;
  return survey;
}

}  // namespace evo::ptx::EVO_SIMD
