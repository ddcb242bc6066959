#pragma once

#include <cstddef>

namespace evo {

/// How often a kernel is timed, by how long one launch takes: as often as the measuring asks for
/// where launches are short, less often where they are long, so that the time that a candidate
/// takes grows with the root of its launch. With the defaults:
///
/// | one launch | warm-ups | samples    | all of it     |
/// |------------|----------|------------|---------------|
/// | ≤ 100 µs   | 20       | 100 to 400 | 20 to 80 ms   |
/// | 0.9 ms     | 13       | 66 to 93   | 70 to 95 ms   |
/// | 1 ms       | 12       | 10 to 88   | 22 to 100 ms  |
/// | 5 ms       | 5        | 10 to 39   | 75 to 220 ms  |
/// | 100 ms     | 1        | 3 to 8     | 0.4 to 0.9 s  |
///
/// From 1 ms on launches differ by so little that ten samples may be as precise as is asked.
class TimeBudget {
 public:
  /// What short launches get.
  struct Wanted {
    int warmups = 20;  ///< launches
    std::size_t least_samples = 100;
    std::size_t most_samples = 400;
    double sample_us = 200;  ///< of one sample
    std::size_t pairs = 60;  ///< of a duel, before it is looked at
  };

  /// `launch_us`: of one launch. `sample_us`: of one sample, which is one launch or several.
  TimeBudget(const Wanted& wanted, double launch_us, double sample_us);

  [[nodiscard]] int warmups() const { return warmups_; }
  /// At least 3, at most as many as wanted.
  [[nodiscard]] std::size_t least_samples() const { return least_samples_; }
  [[nodiscard]] std::size_t most_samples() const { return most_samples_; }
  /// Interleaved pairs of samples, an even number: at least 10, the fewest whose extremes hold the
  /// median in 99.7 % of all cases.
  [[nodiscard]] std::size_t pairs() const { return pairs_; }

 private:
  int warmups_;
  std::size_t least_samples_;
  std::size_t most_samples_;
  std::size_t pairs_;
};

}  // namespace evo
