#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/worker/event_loop.hpp"

namespace evo {

/// The work of a device; the statistics of a run give the time of each phase.
enum class Phase { kIdle, kChecking, kTiming, kConfirming };

/// "checking", "timing", "confirming"; empty for an idle device.
[[nodiscard]] std::string_view to_string(Phase phase);

/// The time that the devices of a pool spend in each phase. The time of a device after its loss is
/// not counted.
class DeviceTimes {
 public:
  /// `loop` must outlive this object.
  explicit DeviceTimes(EventLoop& loop) : loop_(loop), last_change_(loop.now()) {}

  /// Adds an idle device. Devices are numbered in the order in which they are added.
  void add();
  void enter(std::size_t device, Phase phase);
  void lose(std::size_t device);

  /// Milliseconds that all devices have spent in `phase` since the first device was added.
  [[nodiscard]] double spent_ms(Phase phase) const;
  /// The part of the idle time, in ms summed over the devices, in which the coordinator only waited
  /// for events, so that the idle devices waited for compilers.
  [[nodiscard]] double starved_ms() const;
  /// The current phase of each usable device.
  [[nodiscard]] std::vector<Phase> phases() const;

 private:
  static constexpr std::size_t kPhases = 4;

  void count_time();
  [[nodiscard]] double count_in(Phase phase) const;

  EventLoop& loop_;
  std::vector<std::optional<Phase>> devices_;  ///< nullopt for a lost device
  std::array<double, kPhases> spent_ms_ = {};
  double starved_ms_ = 0;
  double waited_before_ms_ = 0;  ///< EventLoop::waited_ms() at the last change
  SteadyTime last_change_;
};

}  // namespace evo
