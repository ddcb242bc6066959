#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "db/store.hpp"

namespace evo {

/// Which runs a question is about.
struct RunFilter {
  std::optional<RunId> run = {};
  std::string device = {};  ///< a selector ("cuda:0") or part of a name, in any case; empty: any
  std::string shape = {};   ///< empty: any
};

/// The runs that pass the filter, oldest first. Throws DbError when `filter.run` does not exist,
/// and InputError when no run has the shape or the device.
[[nodiscard]] std::vector<StoredRun> select_runs(const Store& store, const RunFilter& filter);

/// A kernel that an A/B comparison cannot tell from the one a rank above.
struct Tie {
  double ratio = 1;  ///< its time / that of the one above
  double ratio_low = 1;
  double ratio_high = 1;
  int pairs = 0;
};

/// A row of the view `elite`.
struct EliteRow {
  int rank = 0;  ///< 1: the winner; kernels that tie with it have higher ranks
  RunId run = 0;
  std::string device;
  std::string shape;
  double p50_us = 0;
  double p90_us = 0;
  double tflops = 0;  ///< 0 when the problem states no FLOPs
  int registers = 0;
  int shared_bytes = 0;
  std::optional<double> max_abs_error = {};  ///< nothing when no comparison was made
  std::string config_json;
  TimeKind kind = TimeKind::kMeasured;
  CandidateId candidate = 0;
  std::optional<double> launch_mj = {};  ///< millijoules of a launch
  std::string not_modelled = {};         ///< what a predicted time may depend on beside its model
  std::optional<Tie> tie = {};           ///< with the row above
};

/// The rank of each row for people: "1=" where A/B comparisons cannot tell rows apart, "3" for one
/// behind two of them.
[[nodiscard]] std::vector<std::string> rank_labels(const std::vector<EliteRow>& rows);

/// The elite of one run, best first; empty when nothing is green.
[[nodiscard]] std::vector<EliteRow> elite_of_run(const Store& store, RunId run);

/// The elite of one run, with that run.
struct RunElite {
  StoredRun run;
  std::vector<EliteRow> rows;
  std::string interpreted = {};  ///< what came of executing it on a virtual GPU as well
  bool is_compared = true;       ///< false: the run ended before, the order is that of the times
};

/// The elite of one run with that run.
[[nodiscard]] RunElite run_elite(const Store& store, RunId run);

/// For each problem, space, device, shape and kind of time among the filtered runs, the elite of
/// the newest run that has one; a run asked for by number is given even when its elite is empty.
[[nodiscard]] std::vector<RunElite> elites(const Store& store, const RunFilter& filter);

/// One milestone of a run.
struct Rung {
  std::string milestone;
  CandidateId candidate = 0;
  std::optional<CandidateId> duplicate_of = {};
  std::optional<double> p50_us = {};   ///< set exactly when green and not withdrawn
  std::optional<double> speedup = {};  ///< time of the previous green rung / time of this one
  std::optional<Rejection> rejection = {};
  std::optional<Rejection> withdrawal = {};
  std::string config_json;
};

/// The milestones in the order they were evaluated, which is the space file's.
[[nodiscard]] std::vector<Rung> ladder(const Store& store, RunId run);

/// Rejections of one gate whose reasons differ only in their figures.
struct RejectionGroup {
  Gate gate = Gate::kBuild;
  bool policy_only = false;
  std::int64_t count = 0;
  std::string reason;         ///< of the first
  CandidateId candidate = 0;  ///< the first
};

struct RejectionSummary {
  std::int64_t evaluated = 0;
  /// Distinct kernels. Duplicates are counted apart.
  std::int64_t green = 0;
  std::int64_t rejected = 0;
  std::int64_t duplicates = 0;
  std::int64_t withdrawn = 0;                ///< distinct kernels that were green and failed later
  std::optional<Rejection> withdrawal = {};  ///< of the first of them
  std::int64_t policy_only = 0;              ///< of the rejected: the device would have run them
  std::vector<RejectionGroup> groups;        ///< in the order of the gates, most frequent first
};

[[nodiscard]] RejectionSummary rejections(const Store& store, RunId run);

/// The card in all timings of a run, as its driver told.
struct CardSummary {
  std::int64_t timings = 0;                         ///< in which somebody looked at the card
  std::int64_t discarded = 0;                       ///< samples
  std::int64_t throttled = 0;                       ///< timings in which it stayed throttled
  std::int64_t shared = 0;                          ///< timings in which another process was on it
  std::map<Slowdown, std::int64_t> slowdowns = {};  ///< timings in which they were seen
  std::map<std::string, std::int64_t> others = {};  ///< the same of processes
  double busy_before_percent = 0;  ///< the most that others kept it busy, where they are not listed
  std::optional<double> sm_clock_min_mhz = {};  ///< of the lowest clocks of all timings
  std::optional<double> sm_clock_max_mhz = {};
};

[[nodiscard]] CardSummary card_summary(const Store& store, RunId run);

/// The confirmations between two candidates, whichever was the challenger, oldest first.
[[nodiscard]] std::vector<ConfirmationRecord> confirmations_between(const Store& store,
                                                                    CandidateId a, CandidateId b);

/// A reason with every number in it replaced by '#': what rejections are grouped by.
[[nodiscard]] std::string reason_pattern(std::string_view reason);

}  // namespace evo
