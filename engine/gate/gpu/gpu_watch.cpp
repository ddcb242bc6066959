#include "engine/gate/gpu/gpu_watch.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "engine/core/statistics.hpp"

namespace evo {
namespace {

constexpr double kLookShare = 20;       // GpuWatch's queries take at most 1 / 20 of the time
constexpr double kLeastBatchUs = 2000;  // about ten samples of short launches

double microseconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double, std::micro> span = std::chrono::steady_clock::now() - start;
  return span.count();
}

}  // namespace

GpuWatch::GpuWatch(GpuMonitor* monitor, Pause pause) : monitor_(monitor), pause_(std::move(pause)) {
  if (!pause_) pause_ = [](std::chrono::milliseconds span) { std::this_thread::sleep_for(span); };
}

void GpuWatch::look_for_others() {
  constexpr double kIdlePercent = 5;
  constexpr int kMostLooks = 13;  // 1.2 s in total; the driver averages over up to one second
  constexpr std::chrono::milliseconds kBetween{100};
  if (monitor_ == nullptr) return;
  look_around();
  if (!others_.empty()) return;
  std::optional<double> lowest = monitor_->busy_percent();
  for (int look = 1; look < kMostLooks && lowest && *lowest > kIdlePercent; ++look) {
    pause_(kBetween);
    lowest = std::min(*lowest, monitor_->busy_percent().value_or(*lowest));
  }
  if (lowest && *lowest > kIdlePercent) busy_before_percent_ = lowest;
}

void GpuWatch::look_around() {
  constexpr std::chrono::milliseconds kBetween{250};
  const Clock::time_point now = Clock::now();
  if (looked_around_ && now - *looked_around_ < kBetween) return;
  looked_around_ = now;
  condition_ = monitor_->condition();
  others_ = monitor_->other_processes();
}

GpuPace GpuWatch::look() {
  const Clock::time_point start = Clock::now();
  GpuPace pace = monitor_->pace();
  const double took_us = microseconds_since(start);
  look_us_ = std::min(look_us_.value_or(took_us), took_us);
  return pace;
}

void GpuWatch::begin() {
  if (monitor_ == nullptr) return;
  state_ = {};
  clocks_mhz_.clear();
  refusals_left_ = refusals_allowed_;
  first_clock_mhz_ = look().sm_clock_mhz;
}

bool GpuWatch::is_due(double us) const {
  return monitor_ != nullptr && us >= std::max(kLeastBatchUs, kLookShare * look_us_.value_or(0));
}

bool GpuWatch::was_throttled(const GpuPace& pace) const {
  if (std::ranges::any_of(pace.slowdowns, spoils_times)) return true;
  return pace.sm_clock_mhz && first_clock_mhz_ &&
         *pace.sm_clock_mhz < kLeastShareOfClock * *first_clock_mhz_;
}

bool GpuWatch::accepts(std::size_t samples) {
  if (monitor_ == nullptr) return true;
  const GpuPace pace = look();
  ++state_.looks;
  std::set<Slowdown> seen(state_.slowdowns.begin(), state_.slowdowns.end());
  seen.insert(pace.slowdowns.begin(), pace.slowdowns.end());
  state_.slowdowns.assign(seen.begin(), seen.end());
  const bool throttled = was_throttled(pace);
  if (throttled && refusals_left_ > 0) {
    --refusals_left_;
    state_.discarded += static_cast<std::int64_t>(samples);
    pause_(kRecovery);
    return false;
  }
  state_.throttled = state_.throttled || throttled;
  refusals_allowed_ = state_.throttled ? 1 : kMostRefusals;
  if (pace.sm_clock_mhz) clocks_mhz_.push_back(*pace.sm_clock_mhz);
  return true;
}

std::optional<GpuState> GpuWatch::state() {
  if (monitor_ == nullptr || state_.looks == 0) return std::nullopt;
  GpuState state = state_;
  if (!clocks_mhz_.empty()) {
    std::ranges::sort(clocks_mhz_);
    state.sm_clock_min_mhz = clocks_mhz_.front();
    state.sm_clock_median_mhz = quantile(clocks_mhz_, 0.5);
  }
  look_around();
  state.memory_clock_mhz = condition_.memory_clock_mhz;
  state.temperature_c = condition_.temperature_c;
  state.power_w = condition_.power_w;
  state.others = others_;
  state.busy_before_percent = busy_before_percent_;
  return state;
}

}  // namespace evo
