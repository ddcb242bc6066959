#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "db/store.hpp"

namespace evo {

/// Selects the runs of a query.
struct RunFilter {
  std::optional<RunId> run = {};
  /// the device as on the command line ("cuda:0"), or a part of the device's name in capital or
  /// small letters; empty: any
  std::string device = {};
  std::string shape = {};  ///< empty: any
};

/// The runs that match the filter, oldest first; empty if the database has no runs. Throws DbError
/// if `filter.run` is set and the database does not have this run. Throws InputError if no run has
/// the filter's shape, or no run has its device; if `filter.run` is set, only this run counts.
[[nodiscard]] std::vector<StoredRun> select_runs(const Store& store, const RunFilter& filter);

/// Says why runs have no elite: "no kernel is green in run 1". Call this function only if none of
/// `runs` has an elite.
[[nodiscard]] std::string why_no_elite(const std::vector<StoredRun>& runs);

/// The A/B comparison of a kernel that ended in a tie with the kernel ranked above it.
struct Tie {
  double ratio = 1;      ///< the kernel's time / the time of the kernel above
  double ratio_low = 1;  ///< ends of the confidence interval of `ratio`
  double ratio_high = 1;
};

/// One kernel of a run's elite: a row of the database view `elite`.
struct EliteRow {
  int rank = 0;  ///< 1: the winner; kernels that tie with it have later ranks
  RunId run = 0;
  std::string device;
  std::string shape;
  double p50_us = 0;
  double p90_us = 0;
  double tflops = 0;  ///< from the problem's "flops", rounded to 0.001
  int registers = 0;
  int shared_bytes = 0;
  std::optional<double> max_abs_error = {};  ///< nullopt if no comparison was made
  std::string config_json;
  TimeKind kind = TimeKind::kMeasured;
  CandidateId candidate = 0;
  std::optional<double> launch_mj = {};  ///< millijoules per launch, from the long measurement
  std::string not_modelled = {};  ///< for a prediction: effects that the time model leaves out
  std::optional<Tie> tie = {};    ///< tie with the row above
};

/// The displayed rank of each row. If the first two kernels tied in their A/B comparison, the ranks
/// are "1=", "1=" and "3".
[[nodiscard]] std::vector<std::string> rank_labels(const std::vector<EliteRow>& rows);

/// The elite of one run, best first; empty if the run has no green kernel.
[[nodiscard]] std::vector<EliteRow> elite_of_run(const Store& store, RunId run);

/// A run and its elite.
struct RunElite {
  StoredRun run;
  std::vector<EliteRow> rows;
  std::string interpreted = {};  ///< result of executing the elite on a virtual GPU too, if done
  /// false: no generation has finished, so the kernels are ordered by time, without comparisons
  bool is_compared = true;
};

/// Returns the run and its elite.
[[nodiscard]] RunElite run_elite(const Store& store, RunId run);

/// Groups the runs that match the filter by problem, space, device, shape and kind of time
/// (measured or predicted). Returns, from each group, the newest of the runs that have an elite. If
/// `filter.run` is set, returns that run even if its elite is empty.
[[nodiscard]] std::vector<RunElite> elites(const Store& store, const RunFilter& filter);

/// One milestone of a run.
struct MilestoneResult {
  EvaluationRecord evaluation;
  std::optional<double> p50_us = {};   ///< set if the milestone is green and not withdrawn
  std::optional<double> speedup = {};  ///< time of the previous green milestone / time of this one
};

/// The milestones in the order of their evaluation, which is the space file's order.
[[nodiscard]] std::vector<MilestoneResult> milestone_results(const Store& store, RunId run);

/// The rejections of a run by one gate, with equal `policy_only`, whose reasons differ only in
/// numbers.
struct RejectionGroup {
  Gate gate = Gate::kBuild;
  bool policy_only = false;
  std::int64_t count = 0;
  std::string reason;         ///< reason of the first candidate
  CandidateId candidate = 0;  ///< id of the first candidate
};

struct RejectionSummary {
  std::int64_t evaluated = 0;  ///< number of candidates, including duplicates
  // `green`, `rejected`, `withdrawn` and `policy_only` do not count duplicates.
  std::int64_t green = 0;
  std::int64_t rejected = 0;
  std::int64_t duplicates = 0;
  std::int64_t withdrawn = 0;                ///< distinct kernels that were green and failed later
  std::optional<Rejection> withdrawal = {};  ///< reason of the first withdrawal
  /// number of rejected candidates that the device could run, but the policy forbids
  std::int64_t policy_only = 0;
  std::vector<RejectionGroup> groups;  ///< in the order of the gates; of each gate, largest first
};

[[nodiscard]] RejectionSummary rejections(const Store& store, RunId run);

/// A summary of the GPU's states during all timings of a run, as the driver reported them.
struct GpuSummary {
  std::int64_t timings = 0;    ///< timings in which the GPU was queried
  std::int64_t discarded = 0;  ///< samples discarded during throttling
  std::int64_t throttled = 0;  ///< timings during which the GPU stayed throttled
  std::int64_t shared = 0;     ///< timings with another process on the GPU
  std::map<Slowdown, std::int64_t> slowdowns = {};  ///< number of timings with each slowdown
  std::map<std::string, std::int64_t> others = {};  ///< number of timings with each other process
  /// highest GpuState::busy_before_percent of any timing
  double busy_before_percent = 0;
  std::optional<double> sm_clock_min_mhz = {};  ///< lowest clock in any timing
  std::optional<double> sm_clock_max_mhz = {};  ///< the highest of all timings' lowest clocks
};

[[nodiscard]] GpuSummary gpu_summary(const Store& store, RunId run);

/// The A/B comparisons between `a` and `b`, either of which may be the challenger, oldest first.
[[nodiscard]] std::vector<ComparisonRecord> comparisons_between(const Store& store, CandidateId a,
                                                                CandidateId b);

/// The reason of a rejection with every number replaced by '#'. Rejections whose patterns are equal
/// form a group.
[[nodiscard]] std::string reason_pattern(std::string_view reason);

}  // namespace evo
