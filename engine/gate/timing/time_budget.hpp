#pragma once

#include <cstddef>

namespace evo {

/// How many warm-ups, samples and pairs the timing of a kernel takes, depending on the time of one
/// launch. Short launches are timed as often as requested. Long launches are timed less often, so
/// that the time per candidate grows with the square root of the launch time. With the default
/// numbers:
///
/// | one launch | warm-ups | samples    | total time    |
/// |------------|----------|------------|---------------|
/// | ≤ 100 µs   | 20       | 100 to 400 | 20 to 80 ms   |
/// | 0.9 ms     | 13       | 66 to 93   | 70 to 95 ms   |
/// | 1 ms       | 12       | 10 to 88   | 22 to 100 ms  |
/// | 5 ms       | 5        | 10 to 39   | 75 to 220 ms  |
/// | 25 ms      | 2        | 3 to 17    | 0.1 to 0.5 s  |
/// | 100 ms     | 1        | 3 to 8     | 0.4 to 0.9 s  |
///
/// From 1 ms on, launch times vary so little that ten samples may reach the requested precision.
/// Stopwatch omits the warm-ups of very long launches (kVeryLongLaunchUs).
class TimeBudget {
 public:
  /// The requested numbers of warm-ups, samples and pairs, which short launches get unchanged.
  struct Wanted {
    int warmups = 20;  ///< number of launches
    std::size_t least_samples = 100;
    std::size_t most_samples = 400;
    double sample_us = 200;  ///< time of one sample
    std::size_t pairs = 60;  ///< pairs of an A/B comparison before the first evaluation
  };

  /// `launch_us`: time of one launch. `sample_us`: time of one sample, which has one or more
  /// launches.
  TimeBudget(const Wanted& wanted, double launch_us, double sample_us);

  [[nodiscard]] int warmups() const { return warmups_; }
  /// The least number of samples: at least 3, at most as many as requested.
  [[nodiscard]] std::size_t least_samples() const { return least_samples_; }
  [[nodiscard]] std::size_t most_samples() const { return most_samples_; }
  /// The number of pairs of an A/B comparison, which is even and at least 10: the smallest and the
  /// largest of ten ratios enclose the true median with a probability of 99.8 %.
  [[nodiscard]] std::size_t pairs() const { return pairs_; }

 private:
  int warmups_;
  std::size_t least_samples_;
  std::size_t most_samples_;
  std::size_t pairs_;
};

}  // namespace evo
