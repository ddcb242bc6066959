// Harness: candidates through the gates, and kernels compared, once all is set up.

#include <limits>

#include "engine/coordinator/harness.hpp"
#include "engine/coordinator/manifest.hpp"

namespace evo {

Judgement Harness::judge(const Candidate& candidate, Compilations::Ticket ticket,
                         const std::vector<double>& give_up_us) {
  std::vector<ShapeTask> tasks = tasks_for(candidate);
  for (ShapeTask& task : tasks) task.give_up_us = give_up_us.at(task.shape);
  return pipeline_.judge(ticket, space().values(candidate), Effort::kScreening, tasks);
}

void Harness::measure(const Candidate& candidate, Judgement& built,
                      const std::vector<double>& give_up_us) {
  std::vector<ShapeTask> tasks = tasks_for(candidate);
  for (ShapeTask& task : tasks) task.give_up_us = give_up_us.at(task.shape);
  pipeline_.measure(built, space().values(candidate), Effort::kScreening, tasks);
}

void Harness::time_anew(const Candidate& candidate, Judgement& measured,
                        const std::vector<double>& give_up_us) {
  std::vector<ShapeTask> tasks = tasks_for(candidate);
  for (ShapeTask& task : tasks) task.give_up_us = give_up_us.at(task.shape);
  pipeline_.time(measured, space().values(candidate), Effort::kScreening, tasks);
}

Compilations::Ticket Harness::start_predicted(const Candidate& candidate) {
  const Compilations::Ticket ticket = start(candidate);
  to_predict_.emplace(ticket, candidate);
  return ticket;
}

void Harness::ask_forecasts() {
  std::erase_if(to_predict_, [&](const auto& waiting) {
    const auto& [ticket, candidate] = waiting;
    const Built* built = compilations_.look(ticket);
    if (built == nullptr) return false;
    const ShapeTask first;
    if (built->record.ok) {
      forecasts_.ask(ticket, pipeline_.kernel_under_test(built->record, built->record.key,
                                                         space().values(candidate), {&first, 1}));
    }
    return true;
  });
}

Judgement Harness::predict(const Candidate& candidate, Compilations::Ticket ticket) {
  Judgement result = pipeline_.build(ticket, space().values(candidate), tasks_for(candidate));
  if (result.rejection) return result;
  result.duplicate = pipeline_.knows(result.kernel_key);
  if (result.duplicate) return result;
  result.predicted_us = forecast(ticket);
  result.kernel_key.clear();  // or it would count as judged
  return result;
}

Judgement Harness::judge(const Candidate& candidate) {
  const ShapeTask first;
  return pipeline_.judge(start(candidate), space().values(candidate), Effort::kFull, {&first, 1});
}

OrFailure<CorrectnessResult> Harness::check_fully(const KernelUnderTest& kernel) {
  const auto passed = passed_fully_.find(kernel.key);
  if (passed != passed_fully_.end()) return passed->second;
  auto answer = workers_.check(kernel, Effort::kAfterScreening, Workers::Purpose::kConfirming);
  const auto* result = std::get_if<CorrectnessResult>(&answer);
  if (result != nullptr && !result->rejection) passed_fully_.emplace(kernel.key, *result);
  return answer;
}

OrFailure<CorrectnessResult> Harness::screen(const KernelUnderTest& kernel) {
  return workers_.check(kernel, Effort::kScreening, Workers::Purpose::kConfirming);
}

std::vector<Judgement> Harness::judge_beyond_policy(const std::vector<Candidate>& candidates,
                                                    std::size_t at) {
  const ShapeTask task{at};
  Pipeline free(pipeline_setup({}), workers_);
  std::vector<Compilations::Ticket> tickets;
  for (const Candidate& candidate : candidates) tickets.push_back(start(candidate));
  std::vector<Judgement> judged;
  try {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      judged.push_back(
          free.judge(tickets[i], space().values(candidates[i]), Effort::kFull, {&task, 1}));
    }
  } catch (const Interrupted&) {
    // What was judged until then is an answer too.
  }
  return judged;
}

KernelUnderTest Harness::kernel_of(const Candidate& candidate, const CompilationRecord& compilation,
                                   const std::string& kernel_key) const {
  return pipeline_.kernel_under_test(compilation, kernel_key, space().values(candidate),
                                     tasks_for(candidate));
}

PairResult Harness::compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                 std::size_t at) {
  auto answer = workers_.compare(first, second, shape(at).name);
  if (auto* pair = std::get_if<PairResult>(&answer)) return std::move(*pair);
  // Which of the two hung is not known.
  PairResult failed;
  failed.rejection = Rejection{Gate::kTiming, std::get<WorkerFailure>(answer).reason};
  return failed;
}

std::optional<Rejection> Harness::judge_alone(const KernelUnderTest& kernel, std::size_t at) {
  auto checked = workers_.check(kernel, Effort::kFull, Workers::Purpose::kConfirming);
  if (auto* failure = std::get_if<WorkerFailure>(&checked)) {
    return Rejection{Gate::kCorrectness, std::move(failure->reason)};
  }
  if (auto& rejection = std::get<CorrectnessResult>(checked).rejection) return std::move(rejection);
  auto timed =
      workers_.time(kernel, shape(at).name, Effort::kFull, std::numeric_limits<double>::infinity(),
                    Workers::Purpose::kConfirming);
  if (auto* failure = std::get_if<WorkerFailure>(&timed)) {
    return Rejection{Gate::kTiming, std::move(failure->reason)};
  }
  return std::get<TimingResult>(timed).rejection;
}

Duel Harness::duel(const KernelUnderTest& first, const KernelUnderTest& second, std::size_t at) {
  Duel duel{compare_pair(first, second, at)};
  if (!duel.pair.rejection) return duel;
  // The other one is looked at as well: the first fault may have been its doing.
  if (duel.pair.failed_first) duel.first_failed = judge_alone(first, at);
  duel.second_failed = judge_alone(second, at);
  if (!duel.pair.failed_first) duel.first_failed = judge_alone(first, at);
  if (!duel.first_failed && !duel.second_failed) duel.pair = compare_pair(first, second, at);
  return duel;
}

std::optional<Timing> Harness::time_again(const KernelUnderTest& kernel, bool closely,
                                          std::size_t at) {
  // What is slower than nothing is given up after a few samples.
  const double give_up_us = closely ? std::numeric_limits<double>::infinity() : 0;
  auto answer = workers_.time(kernel, shape(at).name, Effort::kScreening, give_up_us,
                              Workers::Purpose::kConfirming);
  const auto* result = std::get_if<TimingResult>(&answer);
  if (result == nullptr || result->rejection) return std::nullopt;
  return result->timing;
}

InterpretedCheck Harness::interpret(const KernelUnderTest& kernel) {
  // A check that ran out of time while compilers took the processors gets another chance.
  interpreted_.forget_what_may_be_repeated(kernel.key);
  interpreted_.want({kernel});
  return workers_.wait_until([&] { return interpreted_.find(kernel.key); });
}

OrFailure<EnergyResult> Harness::energy_of(const KernelUnderTest& kernel, double window_s,
                                           std::size_t at) {
  return workers_.energy(kernel, shape(at).name, window_s, Workers::Purpose::kConfirming);
}

std::vector<CheckResult> Harness::checks_on(const std::vector<CheckResult>& checks,
                                            std::size_t at) const {
  if (places_.size() == 1) return checks;
  std::vector<CheckResult> own;
  for (const CheckResult& check : checks) {
    const bool of_another = check.shape != shape(at).name && !problem_.shape(check.shape).check;
    if (!of_another) own.push_back(check);
  }
  return own;
}

std::string Harness::manifest(const Candidate& candidate, std::size_t at) const {
  return launch_manifest(problem_, kernel_, shape(at), space(at).values(candidate), device_info_,
                         places_.at(at).valid_shapes);
}

}  // namespace evo
