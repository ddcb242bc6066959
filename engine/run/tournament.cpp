#include "engine/run/tournament.hpp"

#include <algorithm>

namespace evo {
namespace {

/// Two energy measurements of one kernel may differ by this fraction.
constexpr double kLeastDifference = 0.02;

Verdict verdict_of(int sign) {
  if (sign == 0) return Verdict::kTie;
  return sign < 0 ? Verdict::kFaster : Verdict::kSlower;
}

ComparisonResult result_of(Verdict verdict) {
  if (verdict == Verdict::kTie) return ComparisonResult::kTie;
  return verdict == Verdict::kFaster ? ComparisonResult::kChallengerFaster
                                     : ComparisonResult::kIncumbentFaster;
}

}  // namespace

Tournament::Tournament(const TuningTask& task, RunStore& store, RunId run, std::size_t elite_size,
                       std::size_t shape, const std::string& objective)
    : task_(task),
      store_(store),
      run_(run),
      shape_(shape),
      elite_(elite_size),
      objective_(objective) {
  for (const WithdrawalRecord& withdrawal : store_.withdrawals(run_)) {
    withdrawn_[withdrawal.candidate] = {withdrawal.generation, withdrawal.why};
  }
  for (const ComparisonRecord& stored : store_.comparisons(run_)) {
    compared_[{stored.generation, stored.challenger, stored.incumbent}] = stored.verdict;
  }
}

Task<> Tournament::challenge(HomeDevice& home, int generation,
                             std::vector<EliteMember> challengers) {
  // If this generation was interrupted before, the kernels withdrawn in it leave the elite.
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
    const bool has_a_chance = elite_.has_a_chance(challenger.value());
    if (has_a_chance && co_await measure_closely(home, generation, challenger)) {
      Climb climb(elite_, std::move(challenger));
      while (const EliteMember* incumbent = climb.next()) {
        climb.take(co_await compare(home, generation, climb.challenger(), *incumbent));
      }
      // The full check follows the comparisons, because most challengers lose a comparison, and for
      // long launches a full check takes longer than a comparison.
      if (climb.may_enter() && co_await passes_full_check(home, generation, climb.challenger())) {
        climb.enter();
      }
    }
    settled_.insert(id);
    --left_out_;
  }
  settled_.clear();
}

Task<bool> Tournament::passes_full_check(HomeDevice& home, int generation,
                                         const EliteMember& challenger) {
  if (!challenger.only_quick_check) co_return true;
  auto answer = co_await home.check_fully(challenger.kernel);
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    withdraw(generation, challenger.id, {Gate::kCorrectness, std::move(failure->reason)});
    co_return false;
  }
  auto& result = std::get<CorrectnessResult>(answer);
  if (result.rejection) {
    withdraw(generation, challenger.id, *result.rejection);
    co_return false;
  }
  store_.record_full_checks(challenger.id, task_.checks_on(result.checks, shape_));
  co_return true;
}

Task<bool> Tournament::measure_closely(HomeDevice& home, int generation, EliteMember& challenger) {
  if (!objective_.uses_energy()) co_return true;
  auto answer = co_await home.energy_of(challenger.kernel, kEliteEnergy_s, shape_);
  std::optional<Rejection> why;
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    why = Rejection{Gate::kTiming, std::move(failure->reason)};
  } else {
    why = std::get<EnergyResult>(answer).rejection;
  }
  if (why) {
    withdraw(generation, challenger.id, *why);
    co_return false;
  }
  const std::optional<Energy>& energy = std::get<EnergyResult>(answer).energy;
  if (!energy) co_return false;
  store_.record_energy(challenger.id, *energy);
  challenger.objective = objective_.of({.p50_us = challenger.p50_us}, energy);
  co_return true;
}

ComparisonResult Tournament::compare_values(const EliteMember& challenger,
                                            const EliteMember& incumbent) {
  const double ratio = challenger.value() / incumbent.value();
  if (ratio < 1 - kLeastDifference) return ComparisonResult::kChallengerFaster;
  return ratio > 1 + kLeastDifference ? ComparisonResult::kIncumbentFaster : ComparisonResult::kTie;
}

Task<ComparisonResult> Tournament::compare(HomeDevice& home, int generation,
                                           const EliteMember& challenger,
                                           const EliteMember& incumbent) {
  if (task_.device().time_kind == TimeKind::kPredicted) {
    co_return challenger.value() < incumbent.value()  // predictions do not scatter
        ? ComparisonResult::kChallengerFaster
        : ComparisonResult::kIncumbentFaster;
  }
  if (!objective_.is_time()) co_return compare_values(challenger, incumbent);
  const auto known = compared_.find({generation, challenger.id, incumbent.id});
  if (known != compared_.end()) co_return result_of(known->second);
  co_return co_await compare_times(home, generation, challenger, incumbent);
}

Task<ComparisonResult> Tournament::compare_times(HomeDevice& home, int generation,
                                                 const EliteMember& challenger,
                                                 const EliteMember& incumbent) {
  const ComparedPair compared = co_await home.compare(challenger.kernel, incumbent.kernel, shape_);
  if (compared.first_failed) withdraw(generation, challenger.id, *compared.first_failed);
  if (compared.second_failed) withdraw(generation, incumbent.id, *compared.second_failed);
  if (compared.first_failed && compared.second_failed) co_return ComparisonResult::kBothOut;
  if (compared.first_failed) co_return ComparisonResult::kChallengerOut;
  if (compared.second_failed) co_return ComparisonResult::kIncumbentOut;
  const PairResult& pair = compared.pair;
  if (pair.rejection) {
    // The comparison failed twice, although each kernel passes when it runs alone. The challenger
    // loses, because the incumbent has been tested more often.
    store_.record_event(run_, "confirmation failed", pair.rejection->reason);
    co_return ComparisonResult::kChallengerOut;
  }
  const Verdict verdict = verdict_of(pair.verdict());
  compared_[{generation, challenger.id, incumbent.id}] = verdict;
  store_.record_comparison(run_, {generation, challenger.id, incumbent.id, pair.ratio,
                                  pair.interval.low, pair.interval.high, pair.pairs, verdict});
  co_return result_of(verdict);
}

void Tournament::dismiss(int generation, CandidateId candidate, const Rejection& why) {
  withdraw(generation, candidate, why);
  elite_.remove(candidate);
}

void Tournament::withdraw(int generation, CandidateId candidate, const Rejection& why) {
  if (!withdrawn_.emplace(candidate, Withdrawn{generation, why}).second) return;
  store_.record_withdrawal(run_, {candidate, generation, why});
  store_.record_event(run_, "kernel withdrawn",
                      "candidate " + std::to_string(candidate) + " was green and then failed the " +
                          std::string(to_string(why.gate)) + " gate: " + why.reason);
}

void Tournament::choose_control() {
  if (!control_ && !elite_.members().empty()) control_ = elite_.members().front();
}

void Tournament::restore(int generation, std::vector<EliteMember> members,
                         const std::optional<double>& control_us) {
  std::erase_if(members, [&](const EliteMember& member) {
    const auto found = withdrawn_.find(member.id);
    return found != withdrawn_.end() && found->second.generation <= generation;
  });
  elite_.restore(std::move(members));
  choose_control();
  if (control_us && control_first_us_ == 0) control_first_us_ = *control_us;
}

Task<std::optional<double>> Tournament::time_control(HomeDevice& home, int generation,
                                                     bool closely) {
  if (task_.device().time_kind != TimeKind::kMeasured) co_return std::nullopt;
  choose_control();
  if (!control_) co_return std::nullopt;
  const auto found = withdrawn_.find(control_->id);
  // If the profile gate withdrew the control, its results are right, so it remains the control.
  const bool is_wrong = found != withdrawn_.end() && found->second.why.gate != Gate::kProfile;
  if (is_wrong) co_return std::nullopt;
  const std::optional<Timing> timing = co_await home.time_again(control_->kernel, closely, shape_);
  if (timing) {
    if (control_first_us_ == 0) control_first_us_ = timing->p50_us;
    co_return timing->p50_us;
  }
  if (const auto why = co_await home.judge_alone(control_->kernel, shape_)) {
    withdraw(generation, control_->id, *why);
    elite_.remove(control_->id);
  }
  co_return std::nullopt;
}

}  // namespace evo
