#include "engine/device/virtual/arithmetic/lane_survey.hpp"

// Declares the functions of ops_survey.cpp. This header has no include guard, because it is
// included once for each instruction set, in that set's namespace.

#ifndef EVO_SIMD
#error "EVO_SIMD must name the namespace of the instruction set"
#endif

namespace evo::ptx::EVO_SIMD {

LaneSurvey survey_lanes(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes);

}  // namespace evo::ptx::EVO_SIMD
