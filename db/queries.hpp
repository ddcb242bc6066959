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
  std::string device = {};  ///< a device name ("cuda:0") or part of a name, in any case; empty: any
  std::string shape = {};   ///< empty: any
};

/// The runs that match the filter, oldest first. Throws DbError if `filter.run` does not exist, and
/// InputError if no run has the shape or the device.
[[nodiscard]] std::vector<StoredRun> select_runs(const Store& store, const RunFilter& filter);

/// The A/B comparison of a kernel that ended in a tie with the kernel ranked above it.
struct Tie {
  double ratio = 1;  ///< its time / the time of the one above
  double ratio_low = 1;
  double ratio_high = 1;
  int pairs = 0;
};

/// A row of the view `elite`.
struct EliteRow {
  int rank = 0;  ///< 1: the winner; kernels that tie with it have later ranks
  RunId run = 0;
  std::string device;
  std::string shape;
  double p50_us = 0;
  double p90_us = 0;
  double tflops = 0;  ///< 0 if the problem does not specify FLOPs
  int registers = 0;
  int shared_bytes = 0;
  std::optional<double> max_abs_error = {};  ///< nullopt if no comparison was made
  std::string config_json;
  TimeKind kind = TimeKind::kMeasured;
  CandidateId candidate = 0;
  std::optional<double> launch_mj = {};  ///< millijoules per launch
  std::string not_modelled = {};         ///< for a prediction: effects that its model leaves out
  std::optional<Tie> tie = {};           ///< tie with the row above
};

/// The displayed rank of each row: "1=" for two kernels whose A/B comparison was a tie, and "3" for
/// the next row.
[[nodiscard]] std::vector<std::string> rank_labels(const std::vector<EliteRow>& rows);

/// The elite of one run, best first; empty if the run has no green kernel.
[[nodiscard]] std::vector<EliteRow> elite_of_run(const Store& store, RunId run);

/// A run and its elite.
struct RunElite {
  StoredRun run;
  std::vector<EliteRow> rows;
  std::string interpreted = {};  ///< result of also executing it on a virtual GPU
  /// false: the run ended before the comparisons, so its kernels are ordered by time
  bool is_compared = true;
};

/// Returns the run and its elite.
[[nodiscard]] RunElite run_elite(const Store& store, RunId run);

/// For each problem, space, device, shape and kind of time among the filtered runs: the newest run
/// with a nonempty elite. A run selected by number is returned even if its elite is empty.
[[nodiscard]] std::vector<RunElite> elites(const Store& store, const RunFilter& filter);

/// One milestone of a run.
struct Rung {
  std::string milestone;
  CandidateId candidate = 0;
  std::optional<CandidateId> duplicate_of = {};
  std::optional<double> p50_us = {};   ///< set if it is green and not withdrawn
  std::optional<double> speedup = {};  ///< time of the previous green milestone / time of this one
  std::optional<Rejection> rejection = {};
  std::optional<Rejection> withdrawal = {};
  std::string config_json;
};

/// The milestones in the order of their evaluation, which is the space file's order.
[[nodiscard]] std::vector<Rung> ladder(const Store& store, RunId run);

/// Rejections by one gate whose reasons differ only in figures.
struct RejectionGroup {
  Gate gate = Gate::kBuild;
  bool policy_only = false;
  std::int64_t count = 0;
  std::string reason;         ///< reason of the first candidate
  CandidateId candidate = 0;  ///< id of the first candidate
};

struct RejectionSummary {
  std::int64_t evaluated = 0;
  /// Number of distinct kernels. Duplicates are counted separately.
  std::int64_t green = 0;
  std::int64_t rejected = 0;
  std::int64_t duplicates = 0;
  std::int64_t withdrawn = 0;                ///< distinct kernels that were green and failed later
  std::optional<Rejection> withdrawal = {};  ///< reason of the first of them
  /// the rejected candidates that the device could run, but the policy forbids
  std::int64_t policy_only = 0;
  std::vector<RejectionGroup> groups;  ///< in the order of the gates, most frequent first
};

[[nodiscard]] RejectionSummary rejections(const Store& store, RunId run);

/// A summary of the GPU's states during all timings of a run, as the driver reports them.
struct CardSummary {
  std::int64_t timings = 0;                         ///< timings in which the card was queried
  std::int64_t discarded = 0;                       ///< number of samples
  std::int64_t throttled = 0;                       ///< timings with unavoidable throttling
  std::int64_t shared = 0;                          ///< timings with another process on the card
  std::map<Slowdown, std::int64_t> slowdowns = {};  ///< number of timings with each slowdown
  std::map<std::string, std::int64_t> others = {};  ///< number of timings with each process
  double busy_before_percent = 0;  ///< the highest utilisation by others, if they are not listed
  std::optional<double> sm_clock_min_mhz = {};  ///< lowest clock in any timing
  std::optional<double> sm_clock_max_mhz = {};
};

[[nodiscard]] CardSummary card_summary(const Store& store, RunId run);

/// The A/B comparisons between two candidates, whichever was the challenger, oldest first.
[[nodiscard]] std::vector<ConfirmationRecord> confirmations_between(const Store& store,
                                                                    CandidateId a, CandidateId b);

/// The reason with every number replaced by '#'. Rejections are grouped by this text.
[[nodiscard]] std::string reason_pattern(std::string_view reason);

}  // namespace evo
