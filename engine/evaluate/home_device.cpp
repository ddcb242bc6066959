#include "engine/evaluate/home_device.hpp"

#include <limits>
#include <utility>

namespace evo {
namespace {

constexpr double kNoEarlyStop = std::numeric_limits<double>::infinity();

}  // namespace

Task<PairResult> HomeDevice::compare_pair(const KernelUnderTest& first,
                                          const KernelUnderTest& second, std::size_t shape) {
  auto answer = co_await device().compare(first, second, name_of(shape));
  if (auto* result = std::get_if<PairResult>(&answer.result)) co_return std::move(*result);
  PairResult failed;
  failed.rejection =
      Rejection{Gate::kTiming, std::get<WorkerFailure>(std::move(answer.result)).reason};
  co_return failed;
}

Task<ComparedPair> HomeDevice::compare(const KernelUnderTest& first, const KernelUnderTest& second,
                                       std::size_t shape) {
  ComparedPair result;
  result.pair = co_await compare_pair(first, second, shape);
  if (!result.pair.rejection) co_return result;
  // Checks each of the two kernels alone, because one kernel may have caused the fault of the
  // other.
  const bool is_first_guilty = result.pair.failed_first;
  if (is_first_guilty) result.first_failed = co_await judge_alone(first, shape);
  result.second_failed = co_await judge_alone(second, shape);
  if (!is_first_guilty) result.first_failed = co_await judge_alone(first, shape);
  if (!result.first_failed && !result.second_failed) {
    result.pair = co_await compare_pair(first, second, shape);
  }
  co_return result;
}

Task<OrFailure<CorrectnessResult>> HomeDevice::check_fully(const KernelUnderTest& kernel) {
  const auto passed = passed_.find(kernel.key);
  if (passed != passed_.end()) co_return passed->second;
  auto answer = co_await device().check(kernel, CheckKind::kAfterQuick, {});
  const auto* result = std::get_if<CorrectnessResult>(&answer.result);
  if (result != nullptr && !result->rejection) passed_.emplace(kernel.key, *result);
  co_return std::move(answer.result);
}

Task<OrFailure<CorrectnessResult>> HomeDevice::check_quickly(const KernelUnderTest& kernel) {
  auto answer = co_await device().check(kernel, CheckKind::kQuick, {});
  co_return std::move(answer.result);
}

Task<std::optional<Rejection>> HomeDevice::judge_alone(const KernelUnderTest& kernel,
                                                       std::size_t shape) {
  auto checked = co_await device().check(kernel, CheckKind::kFull, {});
  if (auto* failure = std::get_if<WorkerFailure>(&checked.result)) {
    co_return Rejection{Gate::kCorrectness, std::move(failure->reason)};
  }
  auto& check = std::get<CorrectnessResult>(checked.result);
  if (check.rejection) co_return std::move(check.rejection);
  auto timed = co_await device().time(kernel, name_of(shape), CheckKind::kFull, kNoEarlyStop);
  if (auto* failure = std::get_if<WorkerFailure>(&timed.result)) {
    co_return Rejection{Gate::kTiming, std::move(failure->reason)};
  }
  co_return std::move(std::get<TimingResult>(timed.result).rejection);
}

Task<std::optional<Timing>> HomeDevice::time_again(const KernelUnderTest& kernel, bool closely,
                                                   std::size_t shape) {
  // With a limit of 0 µs, timing stops after a few samples, because every kernel is slower.
  const double early_stop_us = closely ? kNoEarlyStop : 0;
  auto answer = co_await device().time(kernel, name_of(shape), CheckKind::kQuick, early_stop_us);
  const auto* result = std::get_if<TimingResult>(&answer.result);
  if (result == nullptr || result->rejection) co_return std::nullopt;
  co_return result->timing;
}

Task<OrFailure<EnergyResult>> HomeDevice::energy_of(const KernelUnderTest& kernel, double window_s,
                                                    std::size_t shape) {
  auto answer = co_await device().energy(kernel, name_of(shape), window_s);
  co_return std::move(answer.result);
}

Task<OrFailure<LaunchOutcome>> HomeDevice::write_outputs(const KernelUnderTest& kernel,
                                                         const std::string& folder,
                                                         std::size_t shape) {
  auto answer = co_await device().write_outputs(kernel, name_of(shape), folder);
  co_return std::move(answer.result);
}

Task<OrFailure<PredictedProfile>> HomeDevice::predicted_profile(const KernelUnderTest& kernel,
                                                                std::size_t shape) {
  auto answer = co_await device().profile(kernel, name_of(shape));
  co_return std::move(answer.result);
}

}  // namespace evo
