#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/rejection.hpp"
#include "engine/core/statistics.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/timing/stopwatch.hpp"

namespace evo {

/// The result of an A/B comparison of two kernels.
struct PairResult {
  double ratio = 1;     ///< median ratio of first to second time
  Interval interval;    ///< confidence interval of `ratio`
  double first_us = 0;  ///< median time of the first kernel
  double second_us = 0;
  int pairs = 0;
  std::optional<Rejection> rejection = {};  ///< a kernel failed; `failed_first` tells which
  bool failed_first = false;
  bool device_lost = false;

  /// −1: the first kernel is certainly faster; +1: the second kernel is certainly faster; 0: a tie,
  /// or a kernel failed.
  [[nodiscard]] int verdict() const;
};

/// The length of the launches of two kernels. kShort: a launch of at least one kernel takes less
/// than 1 ms. kLong: launches of both kernels take at least 1 ms. kVeryLong: launches of both
/// kernels take at least kVeryLongLaunchUs.
enum class LaunchLength { kShort, kLong, kVeryLong };

/// Times of two kernels, measured alternately in pairs.
class PairSamples {
 public:
  /// The number of pairs of long launches that suffice to show a clear difference or a tie.
  static constexpr std::size_t kFewestOfLong = 4;
  static constexpr std::size_t kFewestOfVeryLong = 2;
  /// The most pairs of very long launches, because more pairs would cost more time than a small
  /// difference is worth.
  static constexpr std::size_t kMostOfVeryLong = 4;

  explicit PairSamples(LaunchLength length) : length_(length) {}

  void add(double first_us, double second_us);
  [[nodiscard]] std::size_t size() const { return ratios_.size(); }

  /// True if the ratios of the times all lie on one side of 1, and the difference (the distance
  /// from 1 of the ratio closest to 1) is so much larger than the scatter (largest minus smallest
  /// ratio) that more pairs would not change the verdict. False for an odd number of pairs. The
  /// difference must exceed the limit of a tie (0.4 %), and three times the scatter after six
  /// pairs, or after four pairs of long launches. For long launches, it must exceed only the
  /// scatter after six pairs, or half the scatter after eight. Normally distributed ratios without
  /// a difference, with a scatter above 0.4 %, pass this test with a probability of 1 in 100,000;
  /// for long launches, 1 in 1,000. Two pairs of very long launches are enough if the difference is
  /// above 1 % and more than ten times the scatter.
  [[nodiscard]] bool is_plain() const;
  /// For long launches: true if at least kFewestOfLong pairs (kFewestOfVeryLong of very long
  /// launches) were taken, and in no pair the ratio of the times differs from 1 by more than the
  /// limit of a tie (0.4 %). After more than kFewestOfLong pairs, also true if ratios are below and
  /// above 1, and their median differs from 1 by at most 0.4 %. False for an odd number of pairs.
  [[nodiscard]] bool is_plain_tie() const;

  /// Sets the medians in `result`, and the confidence interval of the median ratio at `z` standard
  /// deviations.
  void summarize_into(PairResult& result, double z) const;

 private:
  LaunchLength length_;
  std::vector<double> first_us_;
  std::vector<double> second_us_;
  std::vector<double> ratios_;
};

/// Compares two kernels by interleaved pairs (A B B A …). Timed launches are verified between pairs
/// and at the end. If launches are long, every launch also counts as one half of a pair, even a
/// launch that is verified or that determined the number of pairs.
class PairComparison {
 public:
  /// All objects passed by reference must outlive this object.
  PairComparison(const Stopwatch::Setup& setup, const LoadedKernel& first,
                 const LoadedKernel& second, const Shape& shape, const Progress& progress);

  /// Runs the comparison; call it once.
  [[nodiscard]] PairResult run();

 private:
  [[nodiscard]] bool are_long() const { return length_ != LaunchLength::kShort; }
  [[nodiscard]] bool is_over() const { return first_.fault() || second_.fault() || has_failed_; }
  [[nodiscard]] bool is_plain() const;
  /// Takes pairs until there are `count` in total, the verdict is clear, or a kernel fails.
  void take_pairs(std::size_t count);
  void take_pair();
  void add_long_launches();
  void verify_within();
  void verify(Stopwatch::Doubt doubt);

  Stopwatch first_;
  Stopwatch second_;
  const Shape& shape_;
  const Progress& progress_;
  LaunchLength length_;
  std::size_t block_;  ///< number of pairs before the first evaluation
  Random random_;
  /// The verification between pairs, and the number of pairs before it, which kernels cannot
  /// predict unless launches are very long.
  std::optional<std::pair<std::size_t, Stopwatch::Doubt>> within_;
  PairSamples samples_;
  PairResult result_;
  bool has_failed_ = false;
};

}  // namespace evo
