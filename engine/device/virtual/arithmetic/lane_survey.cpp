#include "engine/device/virtual/arithmetic/lane_survey.hpp"

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

#define EVO_SIMD simd_base
#include "engine/device/virtual/arithmetic/simd_survey.hpp"
#undef EVO_SIMD
#define EVO_SIMD simd_avx2
#include "engine/device/virtual/arithmetic/simd_survey.hpp"
#undef EVO_SIMD

namespace evo::ptx {

LaneSurvey survey_lanes(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes) {
  static auto* const survey = has_avx2() ? simd_avx2::survey_lanes : simd_base::survey_lanes;
  return survey(address, mask, bytes);
}

void point_lanes(const std::uint64_t* address, std::uint32_t mask, std::uint64_t base,
                 std::byte* memory, std::byte** pointer) {
  for_lanes<std::size_t>(mask, [&](std::size_t l) { pointer[l] = memory + (address[l] - base); });
}

}  // namespace evo::ptx
