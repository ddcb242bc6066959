#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace evo {

struct StoppingOptions {
  /// the least number of samples for a kernel that may enter the elite
  std::size_t least_samples = 100;
  std::size_t most_samples = 400;
  /// Stop when the 95 % confidence interval of the median is within ± this fraction of the median.
  double relative_interval = 0.005;
  /// Stop early when the kernel's time is certainly above this limit.
  double early_stop_us = std::numeric_limits<double>::infinity();
  /// After `samples` samples, stop if even the fastest sample exceeds early_stop_us by the factor
  /// `times`.
  struct EarlyStopLook {
    std::size_t samples = 0;
    double times = 0;
  };
  std::vector<EarlyStopLook> early_stop = {{.samples = 5, .times = 2}};
  /// After this number of samples, stop if the 99.7 % confidence interval of the median lies above
  /// early_stop_us, with a margin for the drift of clocks (other_minute).
  std::size_t samples_to_be_sure = 20;
};

/// Decides when a kernel has been timed enough: the median is known as precisely as requested,
/// most_samples are taken, or the kernel is certainly too slow. A kernel is too slow if a criterion
/// of StoppingOptions::early_stop holds, or if the whole 99.7 % interval of its median exceeds
/// early_stop_us by more than the clocks drift from minute to minute (other_minute).
class StoppingRule {
 public:
  explicit StoppingRule(const StoppingOptions& options)
      : options_(options), next_sure_look_(options.samples_to_be_sure) {}

  void add_measurement(double time_us);
  [[nodiscard]] bool is_finished() const;
  /// True if timing stopped because the kernel is certainly slower than early_stop_us, so that the
  /// statistics of its time are imprecise.
  [[nodiscard]] bool stopped_early() const { return stopped_early_; }
  [[nodiscard]] const std::vector<double>& samples_us() const { return samples_us_; }

 private:
  [[nodiscard]] bool is_far_slower() const;
  [[nodiscard]] bool is_surely_slower();
  [[nodiscard]] bool is_precise() const;
  [[nodiscard]] std::vector<double> sorted() const;

  StoppingOptions options_;
  std::vector<double> samples_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();
  std::size_t next_sure_look_;
  bool stopped_early_ = false;
};

}  // namespace evo
