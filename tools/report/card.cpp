#include "tools/report/card.hpp"

#include <utility>

#include "tools/answers/or_null.hpp"
#include "tools/answers/profile_json.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered card_row(CandidateId candidate, const CardState& card) {
  Ordered slowdowns = Ordered::array();
  for (const Slowdown slowdown : card.slowdowns) slowdowns.push_back(to_string(slowdown));
  return {{"candidate", candidate},
          {"sm_clock_min_mhz", or_null(card.sm_clock_min_mhz)},
          {"sm_clock_median_mhz", or_null(card.sm_clock_median_mhz)},
          {"temperature_c", or_null(card.temperature_c)},
          {"power_w", or_null(card.power_w)},
          {"slowdowns", std::move(slowdowns)},
          {"discarded", card.discarded},
          {"throttled", card.throttled},
          {"others", card.others}};
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

Ordered card_of_run(const Store& store, const StoredRun& run) {
  Ordered card = Ordered::array();
  Ordered energy = Ordered::array();
  Ordered profiles = Ordered::array();
  store.for_each_evaluation(run.id, [&](const EvaluationRecord& evaluation) {
    if (evaluation.duplicate_of) return;  // a duplicate has the data of its first candidate
    if (evaluation.card) card.push_back(card_row(evaluation.id, *evaluation.card));
    if (evaluation.elite_energy) {
      energy.push_back(energy_row(evaluation.id, *evaluation.elite_energy, true));
    } else if (evaluation.energy) {
      energy.push_back(energy_row(evaluation.id, *evaluation.energy, false));
    }
    if (evaluation.profile) profiles.push_back(profile_row(evaluation.id, *evaluation.profile));
  });
  return {{"card", card}, {"energy", energy}, {"profiles", profiles}};
}

}  // namespace evo
