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

/// Watches the card while kernels are timed on it, and says which samples count.
///
///   1. begin() notes the clock when the kernel is warm.
///   2. After every batch of samples, accepts() looks at the card. It was throttled when the driver
///      names a slowdown that spoils times, or its SM clock is below kLeastShareOfClock of that at
///      the start. The batch is then to be taken again, after a pause in which the card recovers.
///   3. After so many refusals that it does not recover, what is measured is kept all the same, and
///      the state says that the card was throttled. A card that did not recover while one kernel
///      was timed gets fewer tries for those that follow, until it is well again.
///
/// A look takes microseconds on one driver and milliseconds on another: is_due() leaves so much
/// time between two of them that they take at most a twentieth of it.
class CardWatch {
 public:
  using Pause = std::function<void(std::chrono::milliseconds)>;

  /// nvbench discards samples below the same share of a card's clock (its --throttle-threshold).
  static constexpr double kLeastShareOfClock = 0.75;
  static constexpr int kMostRefusals = 5;
  /// nvbench waits as long (its --throttle-recovery-delay).
  static constexpr std::chrono::milliseconds kRecovery{50};

  /// `monitor`: null for a device that tells nothing, which is never throttled; otherwise it must
  /// outlive this. `pause`: waits; sleeps by default.
  explicit CardWatch(CardMonitor* monitor, Pause pause = {});

  /// Before anything is launched: how busy others keep the card where the driver does not list
  /// them. A card that this machine used until now needs a second to look idle, and gets it.
  void look_for_others();

  /// The timing of another kernel, which is warm now.
  void begin();
  /// Whether after `us` of samples it is time to look.
  [[nodiscard]] bool is_due(double us) const;
  /// Whether the `samples` since the last look count.
  [[nodiscard]] bool accepts(std::size_t samples);
  /// Of the card since begin(); nothing without a monitor.
  [[nodiscard]] std::optional<CardState> state();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] CardPace look();
  [[nodiscard]] bool was_throttled(const CardPace& pace) const;
  /// At what changes slowly, unless that was done a moment ago.
  void look_around();

  CardMonitor* monitor_;
  Pause pause_;
  std::optional<double> look_us_;  ///< the shortest look: what else the machine did is not in it
  int refusals_left_ = 0;          ///< in this timing
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
