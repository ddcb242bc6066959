#include "engine/coordinator/contest.hpp"

#include <algorithm>

namespace evo {
namespace {

/// Energy of the same kernel, measured twice, differs by as much as this.
constexpr double kLeastDifference = 0.02;

Verdict verdict_of(int sign) {
  if (sign == 0) return Verdict::kTie;
  return sign < 0 ? Verdict::kFaster : Verdict::kSlower;
}

DuelResult result_of(Verdict verdict) {
  if (verdict == Verdict::kTie) return DuelResult::kTie;
  return verdict == Verdict::kFaster ? DuelResult::kChallengerFaster : DuelResult::kIncumbentFaster;
}

}  // namespace

Contest::Contest(Harness& harness, RunStore& store, RunId run, std::size_t elite_size,
                 std::size_t shape, const std::string& objective)
    : harness_(harness),
      store_(store),
      run_(run),
      shape_(shape),
      elite_(elite_size),
      objective_(objective) {
  for (const WithdrawalRecord& withdrawal : store_.withdrawals(run_)) {
    withdrawn_[withdrawal.candidate] = {withdrawal.generation, withdrawal.why};
  }
  for (const ConfirmationRecord& stored : store_.confirmations(run_)) {
    compared_[{stored.generation, stored.challenger, stored.incumbent}] = stored.verdict;
  }
}

void Contest::challenge(int generation, std::vector<EliteMember> challengers) {
  // Those of this generation, when it was interrupted after they had left.
  for (const auto& [candidate, withdrawn] : withdrawn_) {
    if (withdrawn.generation == generation) elite_.remove(candidate);
  }
  std::erase_if(challengers, [&](const auto& member) {
    return was_withdrawn(member.id) || settled_.contains(member.id);
  });
  std::stable_sort(challengers.begin(), challengers.end(),
                   [](const auto& a, const auto& b) { return a.value() < b.value(); });
  left_out_ = challengers.size();
  for (EliteMember& challenger : challengers) {
    const CandidateId id = challenger.id;
    if (elite_.has_a_chance(challenger.value()) && measure_closely(generation, challenger)) {
      // Checks last: of long launches they cost more than the pair that most of them lose.
      elite_.consider(
          std::move(challenger),
          [&](const auto& first, const auto& second) { return confirm(generation, first, second); },
          [&](const auto& winner) { return passes_all_checks(generation, winner); });
    }
    settled_.insert(id);
    --left_out_;
  }
  settled_.clear();
}

bool Contest::passes_all_checks(int generation, const EliteMember& challenger) {
  if (!challenger.screened) return true;
  auto answer = harness_.check_fully(challenger.kernel);
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    withdraw(generation, challenger.id, {Gate::kCorrectness, std::move(failure->reason)});
    return false;
  }
  auto& result = std::get<CorrectnessResult>(answer);
  if (result.rejection) {
    withdraw(generation, challenger.id, *result.rejection);
    return false;
  }
  store_.record_full_checks(challenger.id, harness_.checks_on(result.checks, shape_));
  return true;
}

bool Contest::measure_closely(int generation, EliteMember& challenger) {
  if (!objective_.uses_energy()) return true;
  auto answer = harness_.energy_of(challenger.kernel, kEliteEnergy_s, shape_);
  std::optional<Rejection> why;
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    why = Rejection{Gate::kTiming, std::move(failure->reason)};
  } else {
    why = std::get<EnergyResult>(answer).rejection;
  }
  if (why) {
    withdraw(generation, challenger.id, *why);
    return false;
  }
  const std::optional<Energy>& energy = std::get<EnergyResult>(answer).energy;
  if (!energy) return false;
  store_.record_energy(challenger.id, *energy);
  challenger.objective = objective_.of({.p50_us = challenger.p50_us}, energy);
  return true;
}

DuelResult Contest::compare_values(const EliteMember& challenger,
                                   const EliteMember& incumbent) const {
  const double ratio = challenger.value() / incumbent.value();
  if (ratio < 1 - kLeastDifference) return DuelResult::kChallengerFaster;
  return ratio > 1 + kLeastDifference ? DuelResult::kIncumbentFaster : DuelResult::kTie;
}

DuelResult Contest::confirm(int generation, const EliteMember& challenger,
                            const EliteMember& incumbent) {
  if (harness_.device().time_kind == TimeKind::kPredicted) {
    return challenger.value() < incumbent.value()  // predictions do not scatter
               ? DuelResult::kChallengerFaster
               : DuelResult::kIncumbentFaster;
  }
  if (!objective_.is_time()) return compare_values(challenger, incumbent);
  const auto known = compared_.find({generation, challenger.id, incumbent.id});
  if (known != compared_.end()) return result_of(known->second);
  return fight(generation, challenger, incumbent);
}

DuelResult Contest::fight(int generation, const EliteMember& challenger,
                          const EliteMember& incumbent) {
  const Duel duel = harness_.duel(challenger.kernel, incumbent.kernel, shape_);
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
  compared_[{generation, challenger.id, incumbent.id}] = verdict;
  store_.record_confirmation(run_, {generation, challenger.id, incumbent.id, pair.ratio,
                                    pair.interval.low, pair.interval.high, pair.pairs, verdict});
  return result_of(verdict);
}

void Contest::dismiss(int generation, CandidateId candidate, const Rejection& why) {
  withdraw(generation, candidate, why);
  elite_.remove(candidate);
}

void Contest::withdraw(int generation, CandidateId candidate, const Rejection& why) {
  if (!withdrawn_.emplace(candidate, Withdrawn{generation, why}).second) return;
  store_.record_withdrawal(run_, {candidate, generation, why});
  store_.record_event(run_, "kernel withdrawn",
                      "candidate " + std::to_string(candidate) + " was green and then failed the " +
                          std::string(to_string(why.gate)) + " gate: " + why.reason);
}

void Contest::choose_control() {
  if (!control_ && !elite_.members().empty()) control_ = elite_.members().front();
}

void Contest::restore(int generation, std::vector<EliteMember> members,
                      const std::optional<double>& control_us) {
  std::erase_if(members, [&](const EliteMember& member) {
    const auto found = withdrawn_.find(member.id);
    return found != withdrawn_.end() && found->second.generation <= generation;
  });
  elite_.restore(std::move(members));
  choose_control();
  if (control_us && control_first_us_ == 0) control_first_us_ = *control_us;
}

std::optional<double> Contest::time_control(int generation, bool closely) {
  if (!harness_.has_device() || harness_.device().time_kind != TimeKind::kMeasured) {
    return std::nullopt;
  }
  choose_control();
  if (!control_) return std::nullopt;
  const auto found = withdrawn_.find(control_->id);
  // What the profile gate found does not make its time unsteady.
  if (found != withdrawn_.end() && found->second.why.gate != Gate::kProfile) return std::nullopt;
  const std::optional<Timing> timing = harness_.time_again(control_->kernel, closely, shape_);
  if (!timing) {
    if (const auto why = harness_.judge_alone(control_->kernel, shape_)) {
      withdraw(generation, control_->id, *why);
      elite_.remove(control_->id);
    }
    return std::nullopt;
  }
  if (control_first_us_ == 0) control_first_us_ = timing->p50_us;
  return timing->p50_us;
}

}  // namespace evo
