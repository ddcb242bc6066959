#include "engine/evolve/tuner.hpp"

#include <algorithm>
#include <chrono>

#include "engine/core/hash.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Verdict verdict_of(int sign) {
  if (sign == 0) return Verdict::kTie;
  return sign < 0 ? Verdict::kFaster : Verdict::kSlower;
}

DuelResult result_of(Verdict verdict) {
  if (verdict == Verdict::kTie) return DuelResult::kTie;
  return verdict == Verdict::kFaster ? DuelResult::kChallengerFaster : DuelResult::kIncumbentFaster;
}

}  // namespace

Tuner::Tuner(Harness& harness, Store& store, RunId run, const TunerOptions& options,
             TunerObserver& observer)
    : harness_(harness),
      store_(store),
      run_(run),
      options_(options),
      observer_(observer),
      strategy_(make_strategy(options.strategy, harness.space(), {options.elite, options.seed})),
      elite_(options.elite) {
  progress_.generations = options.generations;
}

TunerEnd Tuner::run(const std::vector<StoredEvaluation>& history,
                    const std::vector<StoredGeneration>& generations,
                    const std::atomic<bool>& stop) {
  for (const StoredEvaluation& stored : history) {
    history_[{stored.record.generation, stored.record.position}] = &stored;
  }
  for (const WithdrawalRecord& withdrawal : store_.withdrawals(run_)) {
    withdrawn_[withdrawal.candidate] = withdrawal.generation;
  }
  for (const ConfirmationRecord& stored : store_.confirmations(run_)) {
    compared_[{stored.generation, stored.challenger, stored.incumbent}] = stored.verdict;
  }
  const Clock::time_point start = Clock::now();
  for (int generation = 0; generation < options_.generations; ++generation) {
    const Clock::time_point generation_start = Clock::now();
    progress_.generation = generation + 1;
    const std::vector<Planned> planned = plan(generation);
    if (planned.empty()) return TunerEnd::kExhausted;
    const std::vector<Outcome> outcomes = evaluate(generation, planned, stop);
    progress_.elapsed_s = seconds_since(start);
    if (outcomes.size() < planned.size()) return TunerEnd::kInterrupted;
    observe(outcomes);
    const bool was_finished = static_cast<std::size_t>(generation) < generations.size();
    if (was_finished) {
      restore_elite(generations[static_cast<std::size_t>(generation)].record);
    } else {
      challenge(generation, outcomes);
      finish_generation(generation, seconds_since(generation_start) * 1e3);
    }
    progress_.elapsed_s = seconds_since(start);
    progress_.best_us = elite_.members().empty() ? 0 : elite_.members().front().p50_us;
    observer_.on_generation(progress_, elite_.members());
    if (stop) return TunerEnd::kInterrupted;
    if (progress_.elapsed_s > options_.max_seconds) return TunerEnd::kOutOfTime;
  }
  return TunerEnd::kFinished;
}

std::vector<Tuner::Planned> Tuner::plan(int generation) {
  std::vector<Planned> planned;
  const auto add = [&](const Planned& entry) {
    const bool known = std::any_of(planned.begin(), planned.end(), [&](const Planned& other) {
      return other.candidate == entry.candidate && entry.milestone.empty();
    });
    if (!known) planned.push_back(entry);
  };
  if (generation == 0) {
    for (const Milestone& milestone : harness_.space().definition().milestones) {
      add({milestone.candidate, "milestone", milestone.name});
    }
    add({harness_.space().defaults(), "default"});
  }
  for (const Candidate& candidate : strategy_->propose(options_.children)) {
    add({candidate, options_.strategy});
  }
  return planned;
}

const StoredEvaluation* Tuner::recorded(int generation, std::size_t position,
                                        const Planned& planned) const {
  const auto found = history_.find({generation, static_cast<int>(position)});
  if (found == history_.end()) return nullptr;
  // A history of other proposals (another version's strategy) is not continued but evaluated anew.
  const bool same =
      found->second->record.config_json == harness_.space().config_json(planned.candidate);
  return same ? found->second : nullptr;
}

std::vector<Tuner::Outcome> Tuner::evaluate(int generation, const std::vector<Planned>& planned,
                                            const std::atomic<bool>& stop) {
  std::vector<Outcome> outcomes(planned.size());
  std::vector<std::size_t> positions;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (const StoredEvaluation* stored = recorded(generation, i, planned[i])) {
      outcomes[i] = {stored->id, planned[i].candidate, stored->record};
      count(outcomes[i]);
    } else {
      positions.push_back(i);
      candidates.push_back(planned[i].candidate);
    }
  }
  const auto judged = harness_.judge(
      candidates, elite_.give_up_us(), stop, [&](std::size_t index, const Judgement& judgement) {
        const std::size_t i = positions[index];
        outcomes[i] = record(generation, i, planned[i], judgement);
        count(outcomes[i]);
        observer_.on_evaluated({outcomes[i].id, &outcomes[i].record}, progress_);
      });
  // Interrupted: what comes behind the first unfinished one stays as it is for the next time.
  if (judged.size() < candidates.size()) outcomes.resize(positions[judged.size()]);
  return outcomes;
}

Tuner::Outcome Tuner::record(int generation, std::size_t position, const Planned& planned,
                             const Judgement& judgement) {
  Outcome outcome;
  outcome.candidate = planned.candidate;
  EvaluationRecord& record = outcome.record;
  record.generation = generation;
  record.position = static_cast<int>(position);
  record.config_json = harness_.space().config_json(planned.candidate);
  record.key = content_key(record.config_json);
  record.origin = planned.origin;
  record.milestone = planned.milestone;
  record.compilation = store_.compilation_id(judgement.compilation.key);
  record.kernel_key = judgement.kernel_key;
  record.dynamic_shared_bytes = static_cast<int>(judgement.launch.dynamic_shared_bytes);
  record.checks = judgement.checks;
  record.timing = judgement.timing;
  record.rejection = judgement.rejection;
  record.compile_ms = judgement.compile_ms;
  record.check_ms = judgement.check_ms;
  record.time_ms = judgement.time_ms;
  if (judgement.duplicate) {
    record.duplicate_of = first_of_kernel_.at(judgement.kernel_key).id;
  } else if (judgement.timing) {
    record.manifest_json = harness_.manifest(planned.candidate);
  }
  outcome.id = store_.record_evaluation(run_, record);
  if (judgement.duplicate) {
    // What the strategy learns is the first one's outcome.
    const Outcome& first = first_of_kernel_.at(judgement.kernel_key);
    record.timing = first.record.timing;
    record.rejection = first.record.rejection;
  }
  return outcome;
}

/// What later generations ask of an outcome: a run keeps thousands of them.
Tuner::Outcome Tuner::without_texts(const Outcome& outcome) {
  Outcome kept = outcome;
  kept.record.manifest_json = {};
  kept.record.config_json = {};
  kept.record.checks = {};
  if (kept.record.rejection) kept.record.rejection->detail = {};
  return kept;
}

void Tuner::count(const Outcome& outcome) {
  const EvaluationRecord& record = outcome.record;
  ++progress_.evaluated;
  if (record.duplicate_of) {
    ++progress_.duplicates;
    return;
  }
  if (!record.kernel_key.empty()) {
    harness_.remember(record.kernel_key);
    first_of_kernel_.emplace(record.kernel_key, without_texts(outcome));
  }
  if (record.rejection) {
    ++progress_.rejected[record.rejection->gate];
  } else if (record.timing) {
    ++progress_.green;
    green_.emplace(outcome.id, without_texts(outcome));
    const double best = progress_.best_us;
    if (best == 0 || record.timing->p50_us < best) progress_.best_us = record.timing->p50_us;
  } else {
    ++progress_.unjudged;
  }
}

void Tuner::observe(const std::vector<Outcome>& outcomes) {
  std::vector<Observation> observations;
  for (const Outcome& outcome : outcomes) {
    Observation observation{outcome.candidate};
    if (outcome.record.rejection) {
      observation.failed_at = outcome.record.rejection->gate;
    } else if (outcome.record.timing) {
      observation.time_us = outcome.record.timing->p50_us;
    } else {
      continue;  // nobody judged it
    }
    observations.push_back(std::move(observation));
  }
  strategy_->observe(observations);
}

EliteMember Tuner::member_of(const Outcome& outcome) const {
  const CompilationRecord compilation = store_.compilation(*outcome.record.compilation);
  return {outcome.id, outcome.candidate, outcome.record.timing->p50_us,
          harness_.kernel_of(outcome.candidate, compilation, outcome.record.kernel_key)};
}

void Tuner::challenge(int generation, const std::vector<Outcome>& outcomes) {
  // Those of this generation, when it was interrupted after they had left.
  for (const auto& [candidate, when] : withdrawn_) {
    if (when == generation) elite_.remove(candidate);
  }
  for (const Outcome& outcome : outcomes) {
    const EvaluationRecord& record = outcome.record;
    const bool green = record.timing && !record.rejection && !record.duplicate_of;
    if (!green || !record.timing->complete || withdrawn_.contains(outcome.id)) continue;
    elite_.consider(member_of(outcome),
                    [&](const EliteMember& challenger, const EliteMember& incumbent) {
                      return confirm(generation, challenger, incumbent);
                    });
  }
}

void Tuner::withdraw(int generation, CandidateId candidate, const Rejection& why) {
  if (!withdrawn_.emplace(candidate, generation).second) return;
  store_.record_withdrawal(run_, {candidate, generation, why});
  store_.record_event(run_, "kernel withdrawn",
                      "candidate " + std::to_string(candidate) + " was green and then failed the " +
                          std::string(to_string(why.gate)) + " gate: " + why.reason);
}

DuelResult Tuner::confirm(int generation, const EliteMember& challenger,
                          const EliteMember& incumbent) {
  if (harness_.device().time_kind == TimeKind::kPredicted) {
    return challenger.p50_us < incumbent.p50_us  // predictions do not scatter
               ? DuelResult::kChallengerFaster
               : DuelResult::kIncumbentFaster;
  }
  const auto stored = compared_.find({generation, challenger.id, incumbent.id});
  if (stored != compared_.end()) return result_of(stored->second);
  const Duel duel = harness_.duel(challenger.kernel, incumbent.kernel);
  if (duel.first_failed) withdraw(generation, challenger.id, *duel.first_failed);
  if (duel.second_failed) withdraw(generation, incumbent.id, *duel.second_failed);
  if (duel.first_failed && duel.second_failed) return DuelResult::kBothOut;
  if (duel.first_failed) return DuelResult::kChallengerOut;
  if (duel.second_failed) return DuelResult::kIncumbentOut;
  if (duel.pair.rejection) {
    // Each is right alone, and together they fail twice: the incumbent has shown more.
    store_.record_event(run_, "confirmation failed", duel.pair.rejection->reason);
    return DuelResult::kChallengerOut;
  }
  const PairResult& pair = duel.pair;
  const Verdict verdict = verdict_of(pair.verdict());
  store_.record_confirmation(run_, {generation, challenger.id, incumbent.id, pair.ratio,
                                    pair.interval.low, pair.interval.high, pair.pairs, verdict});
  return result_of(verdict);
}

void Tuner::restore_elite(const GenerationRecord& generation) {
  std::vector<EliteMember> members;
  for (const EliteEntry& entry : generation.elite) {
    EliteMember member = member_of(green_.at(entry.candidate));
    member.p50_us = entry.p50_us;
    members.push_back(std::move(member));
  }
  elite_.restore(std::move(members));
  if (!control_ && !elite_.members().empty()) control_ = elite_.members().front();
  if (generation.control_p50_us && control_first_us_ == 0) {
    control_first_us_ = *generation.control_p50_us;
  }
}

std::optional<double> Tuner::time_control(int generation) {
  if (!harness_.has_device() || harness_.device().time_kind != TimeKind::kMeasured) {
    return std::nullopt;
  }
  if (!control_ && !elite_.members().empty()) control_ = elite_.members().front();
  if (!control_ || withdrawn_.contains(control_->id)) return std::nullopt;
  const std::optional<Timing> timing = harness_.time_again(control_->kernel);
  if (!timing) {
    if (const auto why = harness_.judge_alone(control_->kernel)) {
      withdraw(generation, control_->id, *why);
      elite_.remove(control_->id);
    }
    return std::nullopt;
  }
  if (control_first_us_ == 0) control_first_us_ = timing->p50_us;
  return timing->p50_us;
}

void Tuner::finish_generation(int generation, double wall_ms) {
  GenerationRecord record;
  record.number = generation;
  record.wall_ms = wall_ms;
  record.control_p50_us = time_control(generation);
  if (record.control_p50_us) record.control_drift = *record.control_p50_us / control_first_us_ - 1;
  for (const EliteMember& member : elite_.members()) {
    record.elite.push_back({member.id, member.p50_us});
  }
  store_.record_generation(run_, record);
}

}  // namespace evo
