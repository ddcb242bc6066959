#include "tools/report/gpu.hpp"

#include <utility>

#include "tools/answers/or_null.hpp"
#include "tools/answers/profile_json.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered gpu_row(CandidateId candidate, const GpuState& gpu) {
  Ordered slowdowns = Ordered::array();
  for (const Slowdown slowdown : gpu.slowdowns) slowdowns.push_back(to_string(slowdown));
  return {{"candidate", candidate},
          {"sm_clock_min_mhz", or_null(gpu.sm_clock_min_mhz)},
          {"sm_clock_median_mhz", or_null(gpu.sm_clock_median_mhz)},
          {"temperature_c", or_null(gpu.temperature_c)},
          {"power_w", or_null(gpu.power_w)},
          {"slowdowns", std::move(slowdowns)},
          {"discarded", gpu.discarded},
          {"throttled", gpu.throttled},
          {"others", gpu.others}};
}

/// `complete`: whether the energy is from the long measurement of the elite, not from a short one.
Ordered energy_row(CandidateId candidate, const Energy& energy, bool complete) {
  return {{"candidate", candidate},
          {"launch_mj", energy.launch_mj},
          {"power_w", energy.power_w},
          {"window_s", energy.window_s},
          {"complete", complete}};
}

Ordered profile_row(CandidateId candidate, const ProfileRecord& profile) {
  Ordered row = {{"candidate", candidate}};
  row.update(profile_json(profile));
  return row;
}

}  // namespace

Ordered gpu_of_run(const Store& store, const StoredRun& run) {
  Ordered gpu = Ordered::array();
  Ordered energy = Ordered::array();
  Ordered profiles = Ordered::array();
  store.for_each_evaluation(run.id, [&](const EvaluationRecord& evaluation) {
    if (evaluation.duplicate_of) return;  // a duplicate has the data of its first candidate
    if (evaluation.gpu) gpu.push_back(gpu_row(evaluation.id, *evaluation.gpu));
    if (evaluation.elite_energy) {
      energy.push_back(energy_row(evaluation.id, *evaluation.elite_energy, true));
    } else if (evaluation.energy) {
      energy.push_back(energy_row(evaluation.id, *evaluation.energy, false));
    }
    if (evaluation.profile) profiles.push_back(profile_row(evaluation.id, *evaluation.profile));
  });
  return {{"gpu", gpu}, {"energy", energy}, {"profiles", profiles}};
}

}  // namespace evo
