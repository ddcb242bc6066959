#include "engine/coordinator/workers.hpp"

#include <algorithm>
#include <utility>

namespace evo {
namespace {

/// A signal may arrive between looking at the stop and waiting.
constexpr std::chrono::milliseconds kLookForStop{100};

std::string_view name_of(double PhaseTimes::*phase) {
  if (phase == &PhaseTimes::check_ms) return "checking";
  if (phase == &PhaseTimes::time_ms) return "timing";
  return phase == &PhaseTimes::confirm_ms ? "confirming" : "";
}

/// The answer of the kind that was asked for.
template <typename Result>
OrFailure<Result> answer(DeviceService::Reply reply) {
  if (auto* failure = std::get_if<WorkerFailure>(&reply.result)) return std::move(*failure);
  return std::get<Result>(std::move(reply.result));
}

}  // namespace

void Workers::require_time_left() {
  const bool asked = stop_.requested != nullptr && *stop_.requested;
  if (!asked && clock_.now() < stop_.deadline) return;
  if (device_ != nullptr) device_->abandon();
  throw Interrupted(!asked);
}

void Workers::collect() {
  compilations_.collect();
  if (when_compiled_) when_compiled_();
  for (Background* background : background_) background->collect();
}

void Workers::wait_for_news(double PhaseTimes::*phase) {
  require_time_left();
  const SteadyTime before = clock_.now();
  const bool compiling = compilations_.in_flight() > 0;
  if (phase != &PhaseTimes::starved_ms) collect();  // while the device works
  if (const auto work = std::exchange(meanwhile_, nullptr)) work();
  if (watch_) watch_({compilations_.in_flight(), name_of(phase)});
  std::vector<pollfd> interests = compilations_.interests();
  SteadyTime until =
      std::min({before + kLookForStop, stop_.deadline, compilations_.next_deadline()});
  for (const Background* background : background_) {
    const std::vector<pollfd> own = background->interests();
    interests.insert(interests.end(), own.begin(), own.end());
    until = std::min(until, background->next_deadline());
  }
  if (device_ != nullptr && device_->is_busy()) {
    const std::vector<pollfd> device = device_->interests();
    interests.insert(interests.end(), device.begin(), device.end());
    until = std::min(until, device_->next_deadline());
  }
  clock_.wait(interests, until);
  const double waited_ms = milliseconds_between(before, clock_.now());
  times_.*phase += waited_ms;
  if (compiling) times_.compile_ms += waited_ms;
}

Built Workers::wait_for(Compilations::Ticket ticket) {
  while (true) {
    require_time_left();
    // What is predicted is asked for before it is taken.
    if (when_compiled_ || !is_compiled(ticket)) collect();
    if (auto built = compilations_.take(ticket)) return std::move(*built);
    wait_for_news(&PhaseTimes::starved_ms);
  }
}

void Workers::wait_for_compilers() { wait_for_news(&PhaseTimes::starved_ms); }

DeviceService::Reply Workers::wait_for_reply(double PhaseTimes::*phase) {
  while (true) {
    if (auto reply = device_->poll()) {
      last_ms_ = reply->wall_ms;
      return std::move(*reply);
    }
    wait_for_news(phase);
  }
}

OrFailure<CorrectnessResult> Workers::check(const KernelUnderTest& kernel, Effort effort,
                                            Purpose purpose) {
  require_time_left();
  device_->submit_check(kernel, effort);
  return answer<CorrectnessResult>(wait_for_reply(
      purpose == Purpose::kJudging ? &PhaseTimes::check_ms : &PhaseTimes::confirm_ms));
}

OrFailure<TimingResult> Workers::time(const KernelUnderTest& kernel, const std::string& shape,
                                      Effort effort, double give_up_us, Purpose purpose) {
  require_time_left();
  device_->submit_time(kernel, shape, effort, give_up_us);
  return answer<TimingResult>(wait_for_reply(
      purpose == Purpose::kJudging ? &PhaseTimes::time_ms : &PhaseTimes::confirm_ms));
}

OrFailure<EnergyResult> Workers::energy(const KernelUnderTest& kernel, const std::string& shape,
                                        double window_s, Purpose purpose) {
  require_time_left();
  device_->submit_energy(kernel, shape, window_s);
  return answer<EnergyResult>(wait_for_reply(
      purpose == Purpose::kJudging ? &PhaseTimes::time_ms : &PhaseTimes::confirm_ms));
}

OrFailure<PredictedProfile> Workers::profile(const KernelUnderTest& kernel,
                                             const std::string& shape) {
  require_time_left();
  device_->submit_profile(kernel, shape);
  return answer<PredictedProfile>(wait_for_reply(&PhaseTimes::confirm_ms));
}

OrFailure<PairResult> Workers::compare(const KernelUnderTest& first, const KernelUnderTest& second,
                                       const std::string& shape) {
  require_time_left();
  device_->submit_compare(first, second, shape);
  return answer<PairResult>(wait_for_reply(&PhaseTimes::confirm_ms));
}

}  // namespace evo
