#include "engine/coordinator/interpreted_checks.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

InterpretedCheck outcome_of(DeviceService::Reply reply) {
  if (const auto* failure = std::get_if<WorkerFailure>(&reply.result)) {
    return {.left_out = failure->reason, .may_be_repeated = true};
  }
  auto& result = std::get<CorrectnessResult>(reply.result);
  if (!result.rejection) return {.checks = std::move(result.checks)};
  if (result.fault == FaultKind::kDefect) return {.rejection = std::move(result.rejection)};
  return {.left_out = std::move(result.rejection->reason)};
}

}  // namespace

InterpretedChecks::InterpretedChecks(std::unique_ptr<DeviceService> interpreter)
    : interpreter_(std::move(interpreter)) {}

void InterpretedChecks::set_up(const SessionSetup& setup) {
  if (!interpreter_) return;
  left_out_.clear();
  try {
    interpreter_->set_up(setup, {});
  } catch (const Error& error) {
    leave_out(error.what());
  }
}

void InterpretedChecks::want(std::vector<KernelUnderTest> kernels) {
  if (!interpreter_) return;
  wanted_ = std::move(kernels);
  collect();
}

std::optional<InterpretedCheck> InterpretedChecks::find(const std::string& kernel_key) const {
  const auto found = known_.find(kernel_key);
  if (found != known_.end()) return found->second;
  if (!left_out_.empty()) return InterpretedCheck{.left_out = left_out_};
  return std::nullopt;
}

void InterpretedChecks::forget_what_may_be_repeated(const std::string& kernel_key) {
  const auto found = known_.find(kernel_key);
  if (found != known_.end() && found->second.may_be_repeated) known_.erase(found);
}

void InterpretedChecks::collect() {
  if (!interpreter_ || !left_out_.empty()) return;
  try {
    if (is_busy()) {
      auto reply = interpreter_->poll();
      if (!reply) return;
      known_[working_on_] = outcome_of(*std::move(reply));
    }
    begin_next();
  } catch (const Error& error) {
    leave_out(error.what());  // the problem or the machine is not made for an interpreter
  }
}

void InterpretedChecks::begin_next() {
  const auto next = std::ranges::find_if(
      wanted_, [&](const KernelUnderTest& kernel) { return !known_.contains(kernel.key); });
  if (next == wanted_.end()) return;
  working_on_ = next->key;
  interpreter_->submit_check(*next, Effort::kScreening);
}

std::vector<pollfd> InterpretedChecks::interests() const {
  return is_busy() ? interpreter_->interests() : std::vector<pollfd>();
}

SteadyTime InterpretedChecks::next_deadline() const {
  return is_busy() ? interpreter_->next_deadline() : SteadyTime::max();
}

}  // namespace evo
