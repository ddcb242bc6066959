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

/// The outcome of timing two kernels in turn.
struct PairResult {
  double ratio = 1;     ///< median of first / second
  Interval interval;    ///< of that median
  double first_us = 0;  ///< medians
  double second_us = 0;
  int pairs = 0;
  std::optional<Rejection> rejection = {};  ///< a kernel failed; `failed_first` says which
  bool failed_first = false;
  bool device_lost = false;

  /// −1: the first is faster beyond doubt, +1: the second, 0: a tie, or one failed.
  [[nodiscard]] int verdict() const;
};

/// How long the launches of both kernels take: above 1 ms, above 10 ms.
enum class LaunchLength { kShort, kLong, kVeryLong };

/// Times of two kernels taken in turn.
class PairSamples {
 public:
  /// Pairs of long launches that show a plain difference, or that there is none.
  static constexpr std::size_t kFewestOfLong = 4;

  explicit PairSamples(LaunchLength length) : length_(length) {}

  void add(double first_us, double second_us);
  [[nodiscard]] std::size_t size() const { return ratios_.size(); }

  /// The difference is so much larger than all scatter that more pairs would say nothing new: three
  /// times as large after six pairs, or four where launches are long; of these also as large after
  /// six and half as large after eight. Ratios without a difference, normally distributed, and that
  /// scatter by more than the least effect, say so once in 100,000 times; of long launches, once in
  /// 1,000. Of very long launches two pairs are enough that differ by 2 % and scatter by a tenth of
  /// that.
  [[nodiscard]] bool is_plain() const;
  /// As many pairs as would show a plain difference of long launches, and none differs by more than
  /// what is called a tie; or two more, on both sides of 1, and their median does not.
  [[nodiscard]] bool is_plain_tie() const;

  /// Medians, and the interval of the ratio's median to `z` standard deviations.
  void summarize_into(PairResult& result, double z) const;

 private:
  LaunchLength length_;
  std::vector<double> first_us_;
  std::vector<double> second_us_;
  std::vector<double> ratios_;
};

/// One comparison of two kernels by interleaved pairs (A B B A …). Between pairs and at the end,
/// launches as they are timed are verified. Where launches are long, each of them is one half of a
/// pair, whatever else it was made for: to plan the measuring, or to be verified.
class PairComparison {
 public:
  /// All references must outlive this.
  PairComparison(const Stopwatch::Setup& setup, const LoadedKernel& first,
                 const LoadedKernel& second, const Shape& shape, const Progress& progress);

  /// To be called once.
  [[nodiscard]] PairResult run();

 private:
  [[nodiscard]] bool are_long() const { return length_ != LaunchLength::kShort; }
  [[nodiscard]] bool is_over() const { return first_.fault() || second_.fault() || has_failed_; }
  [[nodiscard]] bool is_plain() const;
  /// `count` pairs, or fewer where these are plain or a kernel fails.
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
  std::size_t block_;  ///< pairs before they are looked at
  Random random_;
  /// Verified when there are so many pairs, a number that no kernel knows.
  std::optional<std::pair<std::size_t, Stopwatch::Doubt>> within_;
  PairSamples samples_;
  PairResult result_;
  bool has_failed_ = false;
};

}  // namespace evo
