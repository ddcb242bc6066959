#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/card_monitor.hpp"

namespace evo {

/// Monitors the card while kernels are timed, and decides which samples are valid.
///
///   1. begin() notes the clock when the kernel is warm.
///   2. After every batch of samples, accepts() queries the card. The card counts as throttled if
///      the driver reports a slowdown that distorts times, or if the SM clock is below
///      kLeastShareOfClock times the clock at the start. The batch is then repeated after a pause
///      in which the card recovers.
///   3. If the card has not recovered after several tries, the samples are kept and the state
///      records that the card was throttled. After that, the next kernels get fewer tries until the
///      card recovers.
///
/// A query takes microseconds with some drivers and milliseconds with others. is_due() spaces
/// queries so that they take at most a twentieth of the time.
class CardWatch {
 public:
  using Pause = std::function<void(std::chrono::milliseconds)>;

  /// nvbench discards samples below the same share of the clock (its --throttle-threshold).
  static constexpr double kLeastShareOfClock = 0.75;
  static constexpr int kMostRefusals = 5;
  /// nvbench waits equally long (its --throttle-recovery-delay).
  static constexpr std::chrono::milliseconds kRecovery{50};

  /// `monitor`: null for a device that reports nothing, which never counts as throttled; otherwise
  /// it must outlive this object. `pause`: waits; sleeps by default.
  explicit CardWatch(CardMonitor* monitor, Pause pause = {});

  /// Call it before anything is launched. Measures the card's utilisation by other processes if the
  /// driver cannot list them. Waits for a second if this machine has just used the card, because
  /// the utilisation is an average.
  void look_for_others();

  /// Begins the timing of another kernel, which has been warmed up.
  void begin();
  /// Whether a query is due after samples of `us` in all.
  [[nodiscard]] bool is_due(double us) const;
  /// Whether the `samples` since the last query are valid.
  [[nodiscard]] bool accepts(std::size_t samples);
  /// The card's state since begin(); nullopt without a monitor.
  [[nodiscard]] std::optional<CardState> state();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] CardPace look();
  [[nodiscard]] bool was_throttled(const CardPace& pace) const;
  /// Queries properties that change slowly, unless that was done a moment ago.
  void look_around();

  CardMonitor* monitor_;
  Pause pause_;
  /// the duration of the shortest query, which excludes other work of the machine
  std::optional<double> look_us_;
  int refusals_left_ = 0;  ///< for this kernel
  int refusals_allowed_ = kMostRefusals;
  std::optional<double> first_clock_mhz_;
  std::vector<double> clocks_mhz_;
  CardState state_;
  CardCondition condition_;
  std::vector<std::string> others_;
  std::optional<double> busy_before_percent_;
  std::optional<Clock::time_point> looked_around_;
};

}  // namespace evo
