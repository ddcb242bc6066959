#include "engine/evaluate/interpreted_checks.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/at_end.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

InterpretedCheck outcome_of(OrFailure<CorrectnessResult> answer) {
  if (const auto* failure = std::get_if<WorkerFailure>(&answer)) {
    return {.left_out = failure->reason, .may_be_repeated = true};
  }
  auto& result = std::get<CorrectnessResult>(answer);
  if (!result.rejection) return {.checks = std::move(result.checks)};
  if (result.fault == FaultKind::kDefect) return {.rejection = std::move(result.rejection)};
  return {.left_out = std::move(result.rejection->reason)};
}

}  // namespace

InterpretedChecks::InterpretedChecks(EventLoop& loop, std::unique_ptr<DeviceService> interpreter)
    : loop_(loop), interpreter_(std::move(interpreter)), changed_(loop) {}

Task<> InterpretedChecks::set_up(SessionSetup setup) {
  if (!interpreter_) co_return;
  left_out_.clear();
  try {
    co_await interpreter_->set_up(std::move(setup));
  } catch (const Error& error) {
    leave_out(error.what());
  }
}

void InterpretedChecks::want(std::vector<KernelUnderTest> kernels) {
  if (!interpreter_) return;
  wanted_ = std::move(kernels);
  if (is_working_ || !left_out_.empty()) return;
  is_working_ = true;
  loop_.spawn(work());
}

const KernelUnderTest* InterpretedChecks::next() const {
  const auto found = std::ranges::find_if(
      wanted_, [&](const KernelUnderTest& kernel) { return !known_.contains(kernel.key); });
  return found != wanted_.end() ? &*found : nullptr;
}

Task<> InterpretedChecks::work() {
  const AtEnd over([this] {
    is_working_ = false;
    changed_.notify();
  });
  try {
    while (const KernelUnderTest* wanted = next()) {
      const KernelUnderTest kernel = *wanted;
      auto answer = co_await interpreter_->check(kernel, CheckKind::kQuick, {});
      known_[kernel.key] = outcome_of(std::move(answer.result));
      changed_.notify();
    }
  } catch (const Error& error) {
    leave_out(error.what());  // the problem or the machine does not suit an interpreter
  }
}

std::optional<InterpretedCheck> InterpretedChecks::find(const std::string& kernel_key) const {
  const auto found = known_.find(kernel_key);
  if (found != known_.end()) return found->second;
  if (!left_out_.empty()) return InterpretedCheck{.left_out = left_out_};
  return std::nullopt;
}

Task<InterpretedCheck> InterpretedChecks::check(KernelUnderTest kernel) {
  // A check without an answer is repeated: it may have timed out while compilers used the
  // processors.
  const auto known = known_.find(kernel.key);
  if (known != known_.end() && known->second.may_be_repeated) known_.erase(known);
  want({kernel});
  std::optional<InterpretedCheck> found = find(kernel.key);
  while (!found) {
    co_await changed_.wait();
    want({kernel});
    found = find(kernel.key);
  }
  co_return *std::move(found);
}

}  // namespace evo
