#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// The card while a candidate was timed, as its driver told.
struct CardRow {
  CandidateId candidate = 0;
  std::optional<double> sm_clock_min_mhz = {};
  std::optional<double> sm_clock_median_mhz = {};
  std::optional<double> temperature_c = {};
  std::optional<double> power_w = {};
  std::string slowdowns_json = {};  ///< a list of texts
  std::int64_t discarded = 0;       ///< samples that were taken again
  bool throttled = false;           ///< it stayed throttled
  std::string others_json = {};     ///< the other processes on it, a list of texts
};

/// The energy of one launch.
struct EnergyRow {
  CandidateId candidate = 0;
  double launch_mj = 0;
  double power_w = 0;
  double window_s = 0;
  bool complete = false;  ///< false: of a short window
};

struct ProfileMetricRow {
  std::string name = {};
  std::string metric = {};  ///< the tool's name for it
  double value = 0;
  std::string unit = {};
};

/// How a candidate fared at the profile gate.
struct ProfileRow {
  CandidateId candidate = 0;
  std::string kind = {};  ///< measured or predicted
  std::string tool = {};
  std::string require = {};
  bool passed = false;
  std::vector<ProfileMetricRow> metrics = {};
};

// Of a run, in the order of its candidates, on its timed shape. Empty in databases of versions that
// had no such tables.
[[nodiscard]] std::vector<CardRow> card_rows(const Store& store, const StoredRun& run);
/// Of each candidate the one of the longest window.
[[nodiscard]] std::vector<EnergyRow> energy_rows(const Store& store, const StoredRun& run);
[[nodiscard]] std::vector<ProfileRow> profile_rows(const Store& store, const StoredRun& run);

}  // namespace evo
