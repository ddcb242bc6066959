#pragma once

#include "engine/worker/messages.hpp"
#include "engine/worker/session.hpp"

// Converts the messages between the coordinator and a device worker to and from JSON.

namespace evo {

// Structures with options, such as TimingOptions, are sent with only those members that the
// coordinator sets.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CorrectnessOptions, seeds, flops_for_all_seeds,
                                   flops_of_whole_grids, flops_of_quick_check, flops_of_thread,
                                   flops_of_all_shapes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StoppingOptions, least_samples, most_samples, relative_interval)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimingOptions, stopping, warmups, sample_us, input_sets, cold)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SessionSetup, problem_text, problem_folder, template_name,
                                   reference, reference_macros, check_kernels, check_seed,
                                   correctness, timing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelUnderTest, key, image, macros, shapes)

EVO_JSON_WITH_OPTIONAL_FIELDS(CheckedTime, shape, fastest_us, was_idle, too_slow)
EVO_JSON_WITH_OPTIONAL_FIELDS(CorrectnessResult, checks, rejection, device_lost, complete, times,
                              fault)
EVO_JSON_WITH_OPTIONAL_FIELDS(TimingResult, timing, rejection, device_lost, aged, gpu)
EVO_JSON_WITH_OPTIONAL_FIELDS(EnergyResult, energy, not_supported, rejection, device_lost)
EVO_JSON_WITH_OPTIONAL_FIELDS(PredictedProfile, percent, rejection, device_lost)
EVO_JSON_WITH_OPTIONAL_FIELDS(LaunchOutcome, rejection, device_lost)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Interval, low, high)
EVO_JSON_WITH_OPTIONAL_FIELDS(PairResult, ratio, interval, first_us, second_us, pairs, rejection,
                              failed_first, device_lost)

}  // namespace evo
