// The evaluation of a candidate: evaluate() calls the gates in order. The build gate and the
// resource gate are in static_gates.cpp, the gates on a device in this file.

#include "engine/evaluate/evaluator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/at_end.hpp"

namespace evo {

Evaluator::Evaluator(EventLoop& loop, const TuningTask& task, Compilations& compilations,
                     DevicePool& devices, double energy_s, EventSink on_event)
    : loop_(loop),
      task_(task),
      compilations_(compilations),
      devices_(devices),
      energy_s_(energy_s),
      on_event_(std::move(on_event)) {}

Task<Evaluation> Evaluator::evaluate(Candidate candidate, EvaluateOptions how) {
  Evaluation result = co_await build(std::move(candidate), how);
  if (result.rejection || devices_.size() == 0) co_return result;
  if (!how.knows_kernels) {
    co_return co_await on_a_device(&Evaluator::measure_on, std::move(result), how);
  }
  co_return co_await measure_once(std::move(result), how);
  // After evaluate(), Tuner::search() records the candidates in order, and Tournament::challenge()
  // checks the fastest fully and compares them with the elite.
}

Task<Evaluation> Evaluator::build(Candidate candidate, EvaluateOptions how) {
  Evaluation result{std::move(candidate)};
  if (how.shapes.empty()) how.shapes = task_.shapes_for(result.candidate);
  for (const std::size_t shape : how.shapes) result.shapes.push_back({.shape = shape});
  const ResourcePolicy& policy =
      how.policy != nullptr ? *how.policy : task_.space().definition().resources;
  result.compilation = co_await compilations_.compile(task_.sources().request(result.candidate));
  result.rejection = build_gate(task_, result);
  if (!result.rejection) result.rejection = resource_gate(task_, policy, result);
  co_return result;
}

Task<> Evaluator::measure_on(const DeviceLease& lease, const KernelUnderTest& kernel,
                             const EvaluateOptions& how, Evaluation& result) {
  result.was_run = true;
  result.rejection = co_await correctness_gate(lease, kernel, how, result);
  if (!result.rejection) result.rejection = co_await timing_gate(lease, kernel, how, result);
  if (!result.rejection) result.rejection = co_await energy_gate(lease, kernel, result);
}

Task<> Evaluator::time_on(const DeviceLease& lease, const KernelUnderTest& kernel,
                          const EvaluateOptions& how, Evaluation& result) {
  result.rejection = co_await timing_gate(lease, kernel, how, result);
}

/// Runs the gates on the first free device, or, if this device is lost, on another device.
Task<Evaluation> Evaluator::on_a_device(OnDevice gates, Evaluation built,
                                        const EvaluateOptions& how) {
  const KernelUnderTest kernel = kernel_under_test(task_, built);
  while (true) {
    Evaluation result = built;
    const DeviceLease lease = co_await devices_.any(how.turn);
    devices_.service(lease.device()).set_ranges(how.ranges);
    try {
      co_await (this->*gates)(lease, kernel, how, result);
      co_return result;
    } catch (const Error& error) {
      if (error.exit_code() != ExitCode::kMissing) throw;
      lease.give_up();
      if (on_event_) {
        on_event_("device lost", devices_.info(lease.device()).id + ": " + error.what());
      }
    }
  }
}

/// Measures a kernel only once, even if several candidates share it.
Task<Evaluation> Evaluator::measure_once(Evaluation built, const EvaluateOptions& how) {
  if (knows(built.kernel_key)) {
    built.become_duplicate();
    co_return built;
  }
  if (const auto found = measured_.find(built.kernel_key); found != measured_.end()) {
    const std::shared_ptr<Measured> other = found->second;
    while (!other->evaluation) co_await other->done.wait();
    built.take_measurements(*other->evaluation);
    co_return built;
  }
  const auto own = measured_[built.kernel_key] = std::make_shared<Measured>(loop_);
  const AtEnd tell([&, key = built.kernel_key] {
    if (!own->evaluation) measured_.erase(key);
    own->done.notify();
  });
  own->evaluation = co_await on_a_device(&Evaluator::measure_on, std::move(built), how);
  co_return *own->evaluation;
}

void Evaluator::remember(const std::string& kernel_key) {
  known_.insert(kernel_key);
  measured_.erase(kernel_key);
}

Task<Evaluation> Evaluator::time_again(Evaluation measured, EvaluateOptions how) {
  for (ShapeEvaluation& on : measured.shapes) on.timing.reset();
  co_return co_await on_a_device(&Evaluator::time_on, std::move(measured), how);
}

Task<std::optional<Rejection>> Evaluator::correctness_gate(const DeviceLease& lease,
                                                           const KernelUnderTest& kernel,
                                                           const EvaluateOptions& how,
                                                           Evaluation& result) {
  std::vector<double> limits_us;
  for (ShapeEvaluation& on : result.shapes) {
    if (how.early_stop_us) on.early_stop_us = how.early_stop_us(on.shape);
    limits_us.push_back(on.early_stop_us);
  }
  auto answer = co_await lease.at(Phase::kChecking).check(kernel, how.check_kind, limits_us);
  result.check_ms = answer.wall_ms;
  if (auto* failure = std::get_if<WorkerFailure>(&answer.result)) {
    co_return Rejection{Gate::kCorrectness, std::move(failure->reason)};
  }
  auto& outcome = std::get<CorrectnessResult>(answer.result);
  result.checks = std::move(outcome.checks);
  result.only_quick_check = !outcome.complete;
  for (const CheckedTime& time : outcome.times) {
    const auto named = std::ranges::find(kernel.shapes, time.shape);
    if (!time.too_slow || named == kernel.shapes.end()) continue;
    result.shapes[static_cast<std::size_t>(named - kernel.shapes.begin())].timing = time.too_slow;
  }
  co_return std::move(outcome.rejection);
}

Task<std::optional<Rejection>> Evaluator::timing_gate(const DeviceLease& lease,
                                                      const KernelUnderTest& kernel,
                                                      const EvaluateOptions& how,
                                                      Evaluation& result) {
  bool is_aged = false;  // whether the kernel has had enough launches to enter the elite
  for (std::size_t i = 0; i < result.shapes.size(); ++i) {
    ShapeEvaluation& on = result.shapes[i];
    const std::string& shape = kernel.shapes[i];
    if (on.timing) continue;  // The kernel is too slow, so the rough time from its check suffices.
    if (how.early_stop_us) on.early_stop_us = how.early_stop_us(on.shape);
    auto answer =
        co_await lease.at(Phase::kTiming).time(kernel, shape, how.check_kind, on.early_stop_us);
    on.time_ms = answer.wall_ms;
    const std::string where = result.shapes.size() > 1 ? "shape " + shape + ": " : "";
    if (auto* failure = std::get_if<WorkerFailure>(&answer.result)) {
      co_return Rejection{Gate::kTiming, where + failure->reason};
    }
    auto& outcome = std::get<TimingResult>(answer.result);
    on.timing = outcome.timing;
    on.place = devices_.place(lease.device());
    on.gpu = std::move(outcome.gpu);
    is_aged = is_aged || outcome.aged;
    if (!outcome.rejection) continue;
    if (!where.empty()) outcome.rejection->reason.insert(0, where);
    co_return std::move(outcome.rejection);
  }
  result.only_quick_check = result.only_quick_check || !is_aged;
  co_return std::nullopt;
}

/// If the objective needs energy, measures the energy of a launch on each shape on which timing did
/// not stop early.
Task<std::optional<Rejection>> Evaluator::energy_gate(const DeviceLease& lease,
                                                      const KernelUnderTest& kernel,
                                                      Evaluation& result) {
  if (energy_s_ <= 0) co_return std::nullopt;
  for (std::size_t i = 0; i < result.shapes.size(); ++i) {
    ShapeEvaluation& on = result.shapes[i];
    if (!on.timing || !on.timing->complete) continue;
    auto answer = co_await lease.at(Phase::kTiming).energy(kernel, kernel.shapes[i], energy_s_);
    on.time_ms += answer.wall_ms;
    if (auto* failure = std::get_if<WorkerFailure>(&answer.result)) {
      co_return Rejection{Gate::kTiming, std::move(failure->reason)};
    }
    auto& outcome = std::get<EnergyResult>(answer.result);
    on.energy = outcome.energy;
    if (outcome.rejection) co_return std::move(outcome.rejection);
  }
  co_return std::nullopt;
}

}  // namespace evo
