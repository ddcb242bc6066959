#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/study/replay.hpp"

namespace evo {

/// A study reports optimum / best time after each of these numbers of evaluations.
inline constexpr std::array<std::size_t, 5> kReportedBudgets = {25, 50, 100, 200, 400};

struct StudyOptions {
  std::size_t repeats = 100;
  std::size_t budget = 400;  ///< evaluations per repeat; a score may need more, see to_cutoff
  /// True: each repeat makes at least RandomBaseline::cutoff() evaluations, as the score requires.
  bool to_cutoff = true;
  std::size_t max_in_flight = 8;  ///< candidates in flight
  std::uint64_t seed = 1;         ///< repeat i uses mix_seed(seed, i)
  std::size_t jobs = 1;           ///< threads
};

/// Mean and spread of a result over the repeats of a search.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< standard deviation over the repeats
  double p10 = 0;        ///< 10 % quantile
  double p90 = 0;        ///< 90 % quantile
};

struct StudyResult {
  std::string space;
  std::size_t cutoff = 0;
  std::array<Spread, kReportedBudgets.size()> fraction;         ///< see fraction_of_optimum()
  std::array<double, kReportedBudgets.size()> random_fraction;  ///< for random search
  Spread score;                                                 ///< see methodology_score()
  /// fraction of failed evaluations among the evaluations 51 … budget
  double failed_share_after_50 = 0;
  /// fraction of failed configurations in the whole space: the expectation for random search
  double recorded_failed_share = 0;
  std::size_t evaluations = 0;  ///< total over all repeats
  double seconds = 0;           ///< wall clock
};

using StrategyMaker =
    std::function<std::unique_ptr<Strategy>(const CandidateSpace&, const StrategyOptions&)>;

/// Repeats a search on a recorded space. The result, except for `seconds`, does not depend on
/// `jobs`, the number of threads. If a repeat throws, rethrows its exception.
[[nodiscard]] StudyResult run_study(const RecordedSpace& space, const StrategyMaker& make,
                                    const StudyOptions& options);

/// A table for users, with a row for each recorded space, a row for the mean over all spaces, and a
/// row for random search.
[[nodiscard]] std::string study_table(const std::vector<StudyResult>& results);

/// The result as a JSON object in one line.
[[nodiscard]] std::string study_json(const StudyResult& result);

}  // namespace evo
