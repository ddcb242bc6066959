#include "engine/evaluate/device_times.hpp"

#include <algorithm>

namespace evo {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kChecking:
      return "checking";
    case Phase::kTiming:
      return "timing";
    case Phase::kConfirming:
      return "confirming";
    case Phase::kIdle:
      break;
  }
  return {};
}

void DeviceTimes::add() {
  count_time();
  devices_.emplace_back(Phase::kIdle);
}

void DeviceTimes::enter(std::size_t device, Phase phase) {
  count_time();
  if (devices_.at(device)) devices_[device] = phase;
}

void DeviceTimes::lose(std::size_t device) {
  count_time();
  devices_.at(device).reset();
}

/// Adds the time since the last change of a phase to the current phase of each device.
void DeviceTimes::count_time() {
  const SteadyTime now = loop_.now();
  starved_ms_ = starved_ms();
  const double passed_ms = milliseconds_between(last_change_, now);
  for (const std::optional<Phase>& phase : devices_) {
    if (phase) spent_ms_.at(static_cast<std::size_t>(*phase)) += passed_ms;
  }
  last_change_ = now;
  waited_before_ms_ = loop_.waited_ms();
}

/// Number of usable devices in `phase`.
double DeviceTimes::count_in(Phase phase) const {
  return static_cast<double>(std::ranges::count(devices_, std::optional(phase)));
}

double DeviceTimes::spent_ms(Phase phase) const {
  return spent_ms_.at(static_cast<std::size_t>(phase)) +
         count_in(phase) * milliseconds_between(last_change_, loop_.now());
}

double DeviceTimes::starved_ms() const {
  return starved_ms_ + count_in(Phase::kIdle) * (loop_.waited_ms() - waited_before_ms_);
}

std::vector<Phase> DeviceTimes::phases() const {
  std::vector<Phase> phases;
  for (const std::optional<Phase>& phase : devices_) {
    if (phase) phases.push_back(*phase);
  }
  return phases;
}

}  // namespace evo
