#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace evo {

struct StoppingOptions {
  std::size_t least_samples = 100;  ///< for a time that may enter the elite
  std::size_t most_samples = 400;
  double relative_interval = 0.005;  ///< stop when the median's 95 % interval is this narrow (±)
  /// Stop early when even the fastest sample is slower than this.
  double give_up_us = std::numeric_limits<double>::infinity();
  std::size_t samples_to_give_up = 5;
};

/// Decides when a kernel has been timed enough.
class StoppingRule {
 public:
  explicit StoppingRule(const StoppingOptions& options) : options_(options) {}

  void add_measurement(double time_us);
  [[nodiscard]] bool is_finished() const;
  /// True when it stopped because the kernel is too slow to matter: its statistics are rough.
  [[nodiscard]] bool gave_up() const;
  [[nodiscard]] const std::vector<double>& samples_us() const { return samples_us_; }

 private:
  [[nodiscard]] bool is_precise() const;

  StoppingOptions options_;
  std::vector<double> samples_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();
};

}  // namespace evo
