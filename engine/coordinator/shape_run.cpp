#include "engine/coordinator/shape_run.hpp"

#include <algorithm>
#include <limits>

#include "engine/core/hash.hpp"
#include "engine/core/random.hpp"

namespace evo {
namespace {

/// The first shape searches as a run over it alone would.
std::uint64_t seed_for(std::uint64_t seed, std::size_t shape) {
  return shape == 0 ? seed : mix_seed(seed, shape);
}

}  // namespace

ShapeRun::ShapeRun(Harness& harness, RunStore& store, RunId run, const TunerOptions& options,
                   std::size_t shape)
    : harness_(harness),
      store_(store),
      run_(run),
      shape_(shape),
      aim_(options.aim),
      objective_(options.objective),
      strategy_(make_strategy(options.strategy, harness.space(shape),
                              {options.elite, seed_for(options.seed, shape)})),
      contest_(harness, store, run, options.elite, shape, options.objective) {}

double ShapeRun::give_up_us() const {
  // A slow kernel may still be the best by another objective.
  return objective_.is_time() ? elite().give_up_us() : std::numeric_limits<double>::infinity();
}

void ShapeRun::take_history(RunHistory history) {
  for (StoredEvaluation& stored : history.evaluations) {
    const std::pair place{stored.record.generation, stored.record.position};
    history_.emplace(place, std::move(stored));
  }
  for (StoredGeneration& stored : history.generations) {
    recorded_generations_.push_back(std::move(stored.record));
  }
}

bool ShapeRun::knows(const SlotPlace& place, const std::string& config_json) const {
  const auto found = history_.find({place.generation, place.position});
  return found != history_.end() && found->second.record.config_json == config_json;
}

StoredEvaluation ShapeRun::take_recorded(const SlotPlace& place) {
  return std::move(history_.extract({place.generation, place.position}).mapped());
}

EvaluationRecord ShapeRun::record_of(const SlotPlace& place, const Planned& planned,
                                     const Judgement& judgement) const {
  const ShapeJudgement& here = *judgement.on(shape_);
  EvaluationRecord record;
  record.generation = place.generation;
  record.position = place.position;
  record.config_json = harness_.space().config_json(planned.candidate);
  record.key = content_key(record.config_json);
  record.origin = planned.origin;
  record.milestone = planned.milestone;
  record.compilation = judgement.built.id;
  record.kernel_key = judgement.kernel_key;
  record.dynamic_shared_bytes = here.dynamic_shared_bytes;
  record.checks = harness_.checks_on(judgement.checks, shape_);
  record.timing = here.timing;
  record.card = here.card;
  record.energy = here.energy;
  record.rejection = judgement.rejection;
  record.compile_ms = judgement.built.compile_ms;
  record.check_ms = judgement.check_ms;
  record.time_ms = here.time_ms;
  if (judgement.duplicate) {
    record.duplicate_of = first_of_kernel_.at(judgement.kernel_key).id;
  } else if (here.timing) {
    record.manifest_json = harness_.manifest(planned.candidate, shape_);
  }
  return record;
}

const EvaluationRecord& ShapeRun::take(CandidateId id, const Candidate& candidate,
                                       EvaluationRecord record, const Judgement* judgement,
                                       const std::optional<Energy>& energy) {
  Outcome& outcome = outcomes_.emplace_back(Outcome{id, candidate, std::move(record)});
  outcome.energy = energy;
  all_recorded_ = all_recorded_ && judgement == nullptr;
  if (judgement != nullptr && judgement->duplicate) {
    // What the strategy learns is the first one's outcome.
    const Fate& first = first_of_kernel_.at(judgement->kernel_key);
    outcome.record.timing = first.timing;
    outcome.record.energy = first.energy;
    outcome.record.rejection = first.rejection;
  } else if (judgement != nullptr && judgement->is_green()) {
    outcome.screened = judgement->screened;
    outcome.kernel = harness_.kernel_of(candidate, judgement->built.record, judgement->kernel_key);
  }
  remember(outcome);
  observe(outcome);
  return outcome.record;
}

void ShapeRun::remember(const Outcome& outcome) {
  const EvaluationRecord& record = outcome.record;
  if (record.duplicate_of) return;
  if (record.timing && !record.rejection) {
    green_[outcome.id] = {outcome.candidate,       record.compilation.value_or(0),
                          record.kernel_key,       record.timing->p50_us,
                          record.timing->complete, objective_of(outcome)};
    if (fastest_us_ == 0 || record.timing->p50_us < fastest_us_) {
      fastest_us_ = record.timing->p50_us;
    }
  }
  if (record.kernel_key.empty()) return;
  harness_.remember(record.kernel_key);
  Fate fate{outcome.id, record.timing, record.energy, record.rejection};
  if (fate.rejection) fate.rejection->detail = {};
  first_of_kernel_.emplace(record.kernel_key, std::move(fate));
}

void ShapeRun::observe(const Outcome& outcome) {
  Observation observation{outcome.candidate};
  if (outcome.record.is_for_want_of_compiler()) return;
  if (outcome.record.rejection) {
    observation.failed_at = outcome.record.rejection->gate;
  } else if (outcome.record.timing) {
    const auto value = objective_.of(*outcome.record.timing, outcome.record.energy);
    if (!value) return;  // its energy was not measured
    observation.time_us = *value;
  } else {
    return;  // nobody judged it
  }
  strategy_->observe({&observation, 1});
}

KernelUnderTest ShapeRun::stored_kernel(const Green& green) const {
  return harness_.kernel_of(green.candidate, store_.compilation(green.compilation),
                            green.kernel_key);
}

std::optional<double> ShapeRun::objective_of(const Outcome& outcome) const {
  if (objective_.is_time()) return std::nullopt;
  return objective_.of(*outcome.record.timing,
                       outcome.energy ? outcome.energy : outcome.record.energy);
}

EliteMember ShapeRun::member_of(const Outcome& outcome) const {
  return {outcome.id,
          outcome.candidate,
          outcome.record.timing->p50_us,
          outcome.kernel ? *outcome.kernel : stored_kernel(green_.at(outcome.id)),
          outcome.screened,
          objective_of(outcome)};
}

void ShapeRun::challenge(int generation) {
  if (aim_ == Aim::kRecord) return;
  std::vector<EliteMember> challengers;
  for (const Outcome& outcome : outcomes_) {
    const EvaluationRecord& record = outcome.record;
    const bool green = record.timing && !record.rejection && !record.duplicate_of;
    const bool is_known = objective_.is_time() || (green && objective_of(outcome));
    if (green && is_known && record.timing->complete) challengers.push_back(member_of(outcome));
  }
  contest_.challenge(generation, std::move(challengers));
}

void ShapeRun::choose_control() {
  if (aim_ == Aim::kSearch || contest_.has_control() || green_.empty()) return;
  const auto& [id, green] = *green_.begin();
  contest_.use_control({.id = id, .candidate = green.candidate, .kernel = stored_kernel(green)});
}

void ShapeRun::close_generation(int generation, double wall_ms) {
  choose_control();
  // A run that was out of time, and is extended, has a generation that was not judged to its end.
  const bool is_recorded = !recorded_generations_.empty();
  GenerationRecord recorded;
  if (is_recorded) {
    recorded = std::move(recorded_generations_.front());
    recorded_generations_.pop_front();
  }
  if (is_recorded && all_recorded_) {
    restore_generation(recorded);
  } else {
    challenge(generation);
    record_generation(generation, wall_ms, contest_.time_control(generation, aim_ == Aim::kRecord));
  }
  end_generation(generation);
}

std::map<std::string, Rejection> ShapeRun::withdrawn_in(int generation) const {
  std::map<std::string, Rejection> kernels;
  for (const auto& [candidate, withdrawn] : contest_.withdrawn()) {
    const auto green = green_.find(candidate);
    if (withdrawn.generation != generation || green == green_.end()) continue;
    if (withdrawn.why.gate == Gate::kProfile) continue;
    kernels.emplace(green->second.kernel_key, withdrawn.why);
  }
  return kernels;
}

void ShapeRun::dismiss(int generation, const std::string& kernel_key, const Rejection& why) {
  const auto first = first_of_kernel_.find(kernel_key);
  if (first == first_of_kernel_.end() || !green_.contains(first->second.id)) return;
  contest_.dismiss(generation, first->second.id, why);
}

/// In this generation, the last one: a run that was interrupted here counts on.
std::size_t ShapeRun::rejected_last(Gate gate) const {
  return static_cast<std::size_t>(std::ranges::count_if(contest_.withdrawn(), [&](const auto& one) {
    return one.second.generation == closed_ && one.second.why.gate == gate;
  }));
}

std::optional<EliteMember> ShapeRun::next_in_line(const std::set<CandidateId>& without) const {
  const auto value_of = [](const Green& green) { return green.objective.value_or(green.p50_us); };
  auto next = green_.end();
  for (auto one = green_.begin(); one != green_.end(); ++one) {
    const Green& green = one->second;
    const bool is_known = objective_.is_time() || green.objective;
    if (!green.complete || !is_known) continue;
    if (contest_.was_withdrawn(one->first) || without.contains(one->first)) continue;
    if (next == green_.end() || value_of(green) < value_of(next->second)) next = one;
  }
  if (next == green_.end()) return std::nullopt;
  const Green& green = next->second;
  return EliteMember{next->first, green.candidate, green.p50_us, stored_kernel(green),
                     true,        green.objective};
}

void ShapeRun::hold_elite(const LastGate& gate) {
  constexpr std::size_t kFurtherForEachPlace = 3;
  const std::size_t most = (1 + kFurtherForEachPlace) * elite().capacity();
  std::set<CandidateId> passed;
  std::set<CandidateId> had_a_chance;
  while (true) {
    const auto& members = elite().members();
    for (const EliteMember& member : members) had_a_chance.insert(member.id);
    const auto next = std::ranges::find_if(
        members, [&](const EliteMember& member) { return !passed.contains(member.id); });
    if (next != members.end()) {
      const CandidateId id = next->id;
      const auto verdict = gate.judge(static_cast<std::size_t>(next - members.begin()), *next);
      if (!verdict) break;
      if (verdict->rejection) {
        contest_.dismiss(closed_, id, *verdict->rejection);
      } else {
        passed.insert(id);
      }
      continue;
    }
    const std::size_t rejected = rejected_last(gate.gate);
    if (rejected == 0 || members.size() == elite().capacity()) break;
    if (rejected + passed.size() >= most) break;
    std::optional<EliteMember> challenger = next_in_line(had_a_chance);
    if (!challenger) break;
    had_a_chance.insert(challenger->id);
    contest_.challenge(closed_, {std::move(*challenger)});
  }
  if (!is_recorded_elite()) record_elite();
}

bool ShapeRun::is_recorded_elite() const {
  return std::ranges::equal(elite().members(), last_.elite, {}, &EliteMember::id,
                            &EliteEntry::candidate);
}

/// With the last generation.
void ShapeRun::record_elite() {
  last_.elite.clear();
  for (const EliteMember& member : elite().members()) {
    last_.elite.push_back({member.id, member.p50_us});
  }
  store_.record_generation(run_, last_);
}

void ShapeRun::close_unfinished(int generation, double wall_ms) {
  if (closed_ == generation || outcomes_.empty()) return;
  try {
    challenge(generation);
  } catch (const Interrupted& interrupted) {
    if (!interrupted.out_of_time()) throw;
    left_out_ = contest_.left_out();
    if (elite().members().empty() && left_out_ > 0) admit_fastest(generation);
  }
  record_generation(generation, wall_ms, std::nullopt);
  end_generation(generation);
}

/// A run that is out of time before its first comparison has a winner nevertheless: the fastest
/// green kernel that passes all checks, which may end after the deadline.
void ShapeRun::admit_fastest(int generation) {
  harness_.stop_when({harness_.stop().requested});
  std::set<CandidateId> tried;
  while (elite().members().empty()) {
    std::optional<EliteMember> fastest = next_in_line(tried);
    if (!fastest) return;
    tried.insert(fastest->id);
    contest_.challenge(generation, {std::move(*fastest)});
    if (left_out_ > 0) --left_out_;
  }
}

void ShapeRun::end_generation(int generation) {
  outcomes_.clear();
  all_recorded_ = true;
  closed_ = generation;
}

void ShapeRun::restore_generation(const GenerationRecord& generation) {
  std::vector<EliteMember> members;
  for (const EliteEntry& entry : generation.elite) {
    const Green& green = green_.at(entry.candidate);
    members.push_back({entry.candidate, green.candidate, entry.p50_us, stored_kernel(green), false,
                       green.objective});
  }
  contest_.restore(generation.number, std::move(members), generation.control_p50_us);
  if (generation.control_drift) control_drift_ = generation.control_drift;
  last_ = generation;
}

void ShapeRun::record_generation(int generation, double wall_ms,
                                 const std::optional<double>& control_us) {
  GenerationRecord record;
  record.number = generation;
  record.wall_ms = wall_ms;
  record.control_p50_us = control_us;
  if (control_us) record.control_drift = contest_.drift(*control_us);
  if (record.control_drift) control_drift_ = record.control_drift;
  last_ = std::move(record);
  record_elite();
}

}  // namespace evo
