#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace evo {

struct StoppingOptions {
  std::size_t least_samples = 100;  ///< for a time that may enter the elite
  std::size_t most_samples = 400;
  double relative_interval = 0.005;  ///< stop when the median's 95 % interval is this narrow (±)
  /// Stop early when the kernel is surely slower than this.
  double early_stop_us = std::numeric_limits<double>::infinity();
  /// After so many samples it is enough that even the fastest one is beyond so many times that.
  struct Hopeless {
    std::size_t samples = 0;
    double times = 0;
  };
  std::vector<Hopeless> hopeless = {{.samples = 5, .times = 2}};
  /// Samples after which the interval of the median beyond it is enough.
  std::size_t samples_to_be_sure = 20;
};

/// Decides when a kernel has been timed enough: its median is known as closely as asked, or it is
/// surely too slow: the whole 99.7 % interval of its median lies above early_stop_us by more than
/// what times of different minutes differ by.
class StoppingRule {
 public:
  explicit StoppingRule(const StoppingOptions& options)
      : options_(options), next_sure_look_(options.samples_to_be_sure) {}

  void add_measurement(double time_us);
  [[nodiscard]] bool is_finished() const;
  /// True when it stopped because the kernel is too slow to matter: its statistics are rough.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  [[nodiscard]] const std::vector<double>& samples_us() const { return samples_us_; }

 private:
  [[nodiscard]] bool is_hopeless() const;
  [[nodiscard]] bool is_surely_slower();
  [[nodiscard]] bool is_precise() const;
  [[nodiscard]] std::vector<double> sorted() const;

  StoppingOptions options_;
  std::vector<double> samples_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();
  std::size_t next_sure_look_;
  bool gave_up_ = false;
};

}  // namespace evo
