#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
#include "engine/device/virtual/arithmetic/simd_survey.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
// clang-format on

namespace evo::ptx::EVO_SIMD {
namespace {

/// Copies the addresses of active lanes; inactive lanes get the address of the first active lane.
EVO_INLINE void fill_others(const std::uint64_t* address, std::uint32_t mask, std::uint64_t* all) {
  const std::uint64_t first = address[__builtin_ctz(mask)];
  for (int l = 0; l < kWarpSize; ++l) {
    const std::uint64_t own = address[l];
    all[l] = ((mask >> l) & 1U) != 0 ? own : first;
  }
}

[[gnu::noinline]] void find_ends(const std::uint64_t* all, LaneSurvey& survey) {
  std::uint64_t lowest = all[0];
  std::uint64_t highest = all[0];
  for (int l = 0; l < kWarpSize; ++l) {
    lowest = all[l] < lowest ? all[l] : lowest;
    highest = all[l] > highest ? all[l] : highest;
  }
  survey.lowest = lowest;
  survey.highest = highest;
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
  const std::uint64_t stride = all[1] - all[0];
  std::uint64_t uneven = 0;
  std::uint64_t expected = all[0];
  for (int l = 0; l < kWarpSize; ++l) {
    survey.bits |= all[l];
    uneven |= all[l] ^ expected;
    expected += stride;
  }
  // If the addresses are evenly spaced and ascend without a wrap, the first is the lowest and the
  // last is the highest.
  constexpr std::uint64_t kMostStride = 1ULL << 32;
  const std::uint64_t last = all[kWarpSize - 1];
  if (uneven == 0 && stride < kMostStride && last >= all[0]) {
    survey.lowest = all[0];
    survey.highest = last;
    if (mask != kAllLanes) return survey;
    if (stride == 0) survey.pattern = LanePattern::kUniform;
    if (stride == bytes) survey.pattern = LanePattern::kContiguous;
    return survey;
  }
  find_ends(all, survey);
  return survey;
}

}  // namespace evo::ptx::EVO_SIMD
