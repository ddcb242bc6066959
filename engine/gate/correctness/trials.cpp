#include "engine/gate/correctness/trials.hpp"

#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

std::string place(const CheckCase& data) {
  return "shape " + data.shape->name + ", seed " + std::to_string(data.seed) + ": ";
}

}  // namespace

Trials::Trials(BufferWork& work, const Problem& problem, CaseSet& cases, OutputJudge& judge,
               const LoadedKernel& kernel, const Workspace& workspace,
               std::function<double()> now_ms)
    : work_(work),
      device_(work.device()),
      problem_(problem),
      cases_(cases),
      judge_(judge),
      kernel_(kernel),
      workspace_(workspace),
      now_ms_(std::move(now_ms)) {
  work_.begin();
}

void Trials::run(const CheckCase& data, Poison poison, Kind kind) {
  if (is_over()) return;
  const std::vector<KernelArgument> arguments = prepare(data, poison);
  look({&data, kind, work_.launch(kernel_.id, kernel_.launch_for(data), arguments)}, arguments);
}

void Trials::run_after_late_input(const CheckCase& data, Poison poison, std::size_t position) {
  if (is_over()) return;
  const std::vector<KernelArgument> arguments = prepare(data, poison);
  const BufferId buffer = *buffer_of(data, arguments, position);
  const Argument& argument = problem_.arguments[position];
  // Integers are poisoned with 0, because they may be indices, which must stay in bounds.
  const bool is_number = row_of(argument.dtype).kind == NumberKind::kFloat;
  device_.memory().poison(
      buffer, poison_pattern(is_number ? Poison::kNan : Poison::kZero, argument.dtype, data.seed));
  work_.kept().put_back_late(buffer, *data.inputs[position]);
  Trial trial{&data, Kind::kExtra, work_.launch(kernel_.id, kernel_.launch_for(data), arguments)};
  trial.remark = "; the launch started while earlier work still wrote '" + argument.name +
                 "': the kernel uses '" + argument.name + "' before griddepcontrol.wait";
  look(std::move(trial), arguments);
}

Trials::LaunchTime Trials::run_timed(const CheckCase& data, Poison poison, Kind kind) {
  settle();
  if (is_over()) return {};
  const std::vector<KernelArgument> arguments = prepare(data, poison);
  const LaunchPlan plan = kernel_.launch_for(data);
  if (const auto fault = work_.finish()) throw CudaError("before a launch: " + fault->reason);
  LaunchTime time;
  const double start = now_ms_();
  auto fault = launch_timed(plan, arguments, time);
  time.host_ms = now_ms_() - start;
  look({&data, kind, std::move(fault)}, arguments);
  return time;
}

std::optional<Fault> Trials::launch_timed(const LaunchPlan& plan,
                                          const std::vector<KernelArgument>& arguments,
                                          LaunchTime& time) {
  Measuring* measuring = device_.measuring();
  if (measuring == nullptr) return device_.launch(kernel_.id, plan, arguments);
  auto launched = measuring->launch_timed(kernel_.id, plan, arguments);
  if (auto* fault = std::get_if<Fault>(&launched)) return std::move(*fault);
  time.device_us = std::get<double>(launched);
  return std::nullopt;
}

std::vector<KernelArgument> Trials::prepare(const CheckCase& data, Poison poison) {
  used_.insert(&data);
  std::vector<KernelArgument> arguments = workspace_.arguments_of(data);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction == Direction::kOut) {
      device_.memory().poison(std::get<BufferId>(arguments[i]),
                              poison_pattern(poison, argument.dtype, data.seed));
    }
    if (argument.direction == Direction::kInOut) {
      work_.kept().put_back(std::get<BufferId>(arguments[i]), *data.inputs[i]);
    }
  }
  return arguments;
}

void Trials::look(Trial trial, const std::vector<KernelArgument>& arguments) {
  if (!trial.fault) {
    const CheckCase& data = *trial.data;
    trial.violation.emplace(work_, problem_, arguments, data);
    trial.unwritten = unwritten(data, arguments);
    trial.remark += unordered_read();
    const bool is_repeat = trial.kind == Kind::kRepeat && kernel_.spec->deterministic;
    if (!is_repeat || !problem_.check_program.empty()) {
      trial.outputs = judge_.look(kernel_, data, arguments);
    }
    if (is_repeat) {
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!data.first_run[i]) continue;
        trial.differences.push_back(
            {i, work_.first_difference(std::get<BufferId>(arguments[i]), *data.first_run[i])});
      }
    }
    work_.mark();
  }
  pending_.push_back(std::move(trial));
  judge_known();
}

void Trials::keep_outputs(const CheckCase& data) {
  if (is_over()) return;
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (!data.first_run[i]) continue;
    work_.kept().keep(*data.first_run[i], std::get<BufferId>(data.arguments[i]));
  }
}

bool Trials::is_known(const Trial& trial) const {
  if (trial.fault) return true;
  for (const Trial::Difference& difference : trial.differences) {
    if (!work_.is_known(difference.look)) return false;
  }
  return trial.violation->is_known() &&
         (trial.outputs.data == nullptr || judge_.is_known(trial.outputs));
}

void Trials::judge_known() {
  while (!pending_.empty() && !is_over() && is_known(pending_.front())) {
    judge(pending_.front());
    say_more(pending_.front().remark);
    pending_.pop_front();
  }
}

void Trials::judge(const Trial& trial) {
  const CheckCase& data = *trial.data;
  if (trial.fault) return reject(data, *trial.fault);
  if (const auto violation = trial.violation->found()) return reject(data, *violation);
  if (trial.unwritten) return reject(data, *trial.unwritten);
  for (const Trial::Difference& difference : trial.differences) {
    const auto byte = work_.difference(difference.look);
    if (!byte) continue;
    const Argument& argument = problem_.arguments[difference.position];
    return reject(data,
                  "a second run on the same input gave another result (a race, or an element "
                  "that is never written), first at " +
                      argument.name + "[" + std::to_string(*byte / size_of(argument.dtype)) + "]");
  }
  if (trial.outputs.data == nullptr) return;
  const OutputJudge::Verdict verdict = judge_.judge(trial.outputs);
  if (trial.kind == Kind::kSeed) result_.checks.push_back(verdict.figures);
  if (verdict.violation) reject(data, *verdict.violation);
}

std::optional<std::string> Trials::unwritten(const CheckCase& data,
                                             const std::vector<KernelArgument>& arguments) const {
  const Interpreting* interpreting = device_.interpreting();
  if (interpreting == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction != Direction::kOut || !argument.is_compared) continue;
    const auto byte = interpreting->first_unwritten(std::get<BufferId>(arguments[i]));
    if (!byte) continue;
    // An element outside of the compared part of the output may stay unwritten.
    if (argument.compared && *byte >= argument.compared_bytes(data.values)) continue;
    return argument.name + "[" + std::to_string(*byte / size_of(argument.dtype)) +
           "] was never written";
  }
  return std::nullopt;
}

std::string Trials::unordered_read() const {
  const Interpreting* interpreting = device_.interpreting();
  const std::string place =
      interpreting == nullptr ? std::string() : interpreting->unordered_read();
  if (place.empty()) return {};
  return "; a read returned the value from before a store of another CTA, because no fence stands "
         "between the store and the flag that says it is done: at " +
         place;
}

void Trials::settle() {
  if (result_.device_lost || pending_.empty()) return;
  const std::optional<Fault> fault = work_.finish();
  const CheckCase* last = pending_.back().data;
  const std::string remark = pending_.back().remark;
  judge_known();
  if (fault) {
    // Blames the fault on the first launch whose checks did not finish, because all earlier
    // launches ended without a fault. If all checks finished, blames the last launch.
    if (!is_over()) {
      reject(pending_.empty() ? *last : *pending_.front().data, *fault);
      say_more(pending_.empty() ? remark : pending_.front().remark);
    }
    result_.device_lost = result_.device_lost || fault->device_lost;
  } else if (!is_over() && !pending_.empty()) {
    throw CudaError("the device returned no results of its checks");
  }
}

void Trials::reject(const CheckCase& data, const std::string& reason) {
  result_.rejection = Rejection{Gate::kCorrectness, place(data) + reason};
}

void Trials::reject(const CheckCase& data, const Fault& fault) {
  result_.reject(place(data), fault);
}

void Trials::say_more(const std::string& words) {
  if (result_.rejection) result_.rejection->reason += words;
}

CorrectnessResult Trials::take() {
  settle();
  if (is_over() && !result_.device_lost) tidy_up();
  return std::move(result_);
}

/// Restores the buffers of all used check cases, because launches after a wrong launch may have
/// overwritten the buffers.
void Trials::tidy_up() {
  pending_.clear();
  for (const CheckCase* data : used_) {
    repair_guard_zones(device_, workspace_.arguments_of(*data), *data);
    cases_.restore_inputs(*data);
  }
}

}  // namespace evo
