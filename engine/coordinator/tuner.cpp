#include "engine/coordinator/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/evolve/window.hpp"

namespace evo {
namespace {

/// Of the time there is, this share (and no more than these seconds) is left for comparing the last
/// generation's kernels with the elite.
constexpr double kShareToCompare = 0.2;
constexpr double kMostSecondsToCompare = 5;

}  // namespace

std::string_view to_string(Aim aim) { return aim == Aim::kRecord ? "record" : "search"; }

Tuner::Tuner(Harness& harness, RunStore& store, RunId run, const TunerOptions& options,
             TunerObserver& observer)
    : harness_(harness),
      store_(store),
      run_(run),
      options_(options),
      observer_(observer),
      objective_(options.objective),
      strategy_(make_strategy(options.strategy, harness.space(), {options.elite, options.seed})),
      contest_(harness, store, run, options.elite, options.objective) {
  progress_.generations = options.generations;
  progress_.window = options.window;
  plan_opening();
}

void Tuner::plan_opening() {
  const auto add = [&](const Planned& planned) {
    opened_.push_back(planned.candidate);
    opening_.push_back(planned);
  };
  if (options_.aim == Aim::kSearch) {
    for (const Milestone& milestone : harness_.space().definition().milestones) {
      add({milestone.candidate, "milestone", milestone.name});
    }
  }
  const Candidate defaults = harness_.space().defaults();
  if (std::find(opened_.begin(), opened_.end(), defaults) == opened_.end()) {
    add({defaults, "default"});
  }
}

SteadyTime Tuner::after(double seconds) const {
  const std::chrono::duration<double> span(seconds);
  if (span >= SteadyTime::max() - started_) return SteadyTime::max();
  return started_ + std::chrono::duration_cast<SteadyTime::duration>(span);
}

TunerEnd Tuner::run(RunHistory history, const std::atomic<bool>& stop) {
  for (StoredEvaluation& stored : history.evaluations) {
    const std::pair place{stored.record.generation, stored.record.position};
    history_.emplace(place, std::move(stored));
  }
  for (StoredGeneration& stored : history.generations) {
    recorded_generations_.push_back(std::move(stored.record));
  }
  started_ = harness_.clock().now();
  generation_started_ = started_;
  harness_.stop_when({&stop, after(options_.max_seconds - seconds_to_compare())});
  TunerEnd end = TunerEnd::kInterrupted;
  try {
    try {
      end = search(stop);
    } catch (const Interrupted& interrupted) {
      harness_.meanwhile({});
      settle();
      if (!interrupted.out_of_time()) throw;
      end = TunerEnd::kOutOfTime;
      close_unfinished_generation({&stop, after(options_.max_seconds)});
    } catch (const DbError&) {
      throw;
    } catch (const Error&) {
      // Of the machine: what was judged before it is kept.
      harness_.meanwhile({});
      settle();
      throw;
    }
  } catch (const Interrupted&) {
    end = TunerEnd::kInterrupted;  // what is not recorded stays as it is for the next time
  }
  harness_.stop_when({&stop});
  progress_.elapsed_s = milliseconds_between(started_, harness_.clock().now()) / 1e3;
  return end;
}

double Tuner::seconds_to_compare() const {
  const bool compares =
      options_.aim == Aim::kSearch && harness_.device().time_kind == TimeKind::kMeasured;
  return compares ? std::min(kShareToCompare * options_.max_seconds, kMostSecondsToCompare) : 0;
}

TunerEnd Tuner::search(const std::atomic<bool>& stop) {
  while (true) {
    if (slots_.empty()) {
      settle();
      fill_window();
    }
    if (slots_.empty()) {
      if (!outcomes_.empty()) close_generation();  // there are no more candidates
      return exhausted_ ? TunerEnd::kExhausted : TunerEnd::kFinished;
    }
    const auto go_on = [this] {
      settle();
      fill_window();
    };
    harness_.meanwhile(go_on);  // the device has its work first
    generation_ = slots_.front().generation;
    progress_.generation = generation_ + 1;
    Judged judged = judge(std::move(slots_.front()));
    harness_.meanwhile({});
    go_on();  // where nothing was waited for; what is proposed must not depend on that
    slots_.pop_front();
    progress_.in_flight = slots_.size();
    unsettled_ = std::move(judged);
    // Which kernels are known is part of what a recorded one says to the next.
    if (!unsettled_->judgement) settle();
    if (outcomes_.size() + (unsettled_ ? 1 : 0) == size_of(generation_)) {
      go_on();  // so that the compilers have work while kernels are compared
      close_generation();
    }
    if (stop) throw Interrupted(false);
  }
}

std::size_t Tuner::size_of(int generation) const {
  return options_.children + (generation == 0 ? opened_.size() : 0);
}

std::optional<Tuner::Planned> Tuner::next_planned() {
  if (!opening_.empty()) {
    Planned planned = std::move(opening_.front());
    opening_.pop_front();
    return planned;
  }
  while (true) {
    const std::vector<Candidate> proposed = strategy_->propose(1);
    if (proposed.empty()) return std::nullopt;
    // The strategy does not know what is in flight without its doing.
    const bool known = std::find(opened_.begin(), opened_.end(), proposed.front()) != opened_.end();
    if (!known) return Planned{proposed.front(), options_.strategy};
  }
}

void Tuner::fill_window() {
  const auto window = [&] {
    // What is known beforehand waits for nothing.
    const bool waits = strategy_learns(options_.strategy) && opening_.empty();
    return waits ? in_flight_at(started_slots_, options_.window) : options_.window;
  };
  while (!exhausted_ && next_generation_ < options_.generations &&
         started_slots_ < options_.candidates && slots_.size() < window()) {
    std::optional<Planned> planned = next_planned();
    if (!planned) {
      exhausted_ = true;
      return;
    }
    Slot slot{next_generation_, static_cast<int>(next_position_), std::move(*planned)};
    slot.recorded = take_recorded(slot);
    if (!slot.recorded) slot.ticket = harness_.start(slot.planned.candidate);
    slots_.push_back(std::move(slot));
    progress_.in_flight = slots_.size();
    ++started_slots_;
    if (++next_position_ == size_of(next_generation_)) {
      ++next_generation_;
      next_position_ = 0;
    }
  }
}

std::optional<StoredEvaluation> Tuner::take_recorded(const Slot& slot) {
  auto node = history_.extract({slot.generation, slot.position});
  if (node.empty()) return std::nullopt;
  // A history of other proposals (another version's strategy) is not continued but evaluated anew.
  const std::string config = harness_.space().config_json(slot.planned.candidate);
  if (node.mapped().record.config_json != config) return std::nullopt;
  return std::move(node.mapped());
}

Tuner::Judged Tuner::judge(Slot slot) {
  if (slot.recorded) return {std::move(slot)};
  harness_.set_ranges({fmt::format("run {}", run_), fmt::format("generation {}", slot.generation),
                       fmt::format("candidate {}.{}", slot.generation, slot.position)});
  // A slow kernel may still be the best by another objective.
  const double give_up_us =
      objective_.is_time() ? elite().give_up_us() : std::numeric_limits<double>::infinity();
  Judgement judgement = harness_.judge(slot.planned.candidate, slot.ticket, give_up_us);
  progress_.elapsed_s = milliseconds_between(started_, harness_.clock().now()) / 1e3;
  return {std::move(slot), std::move(judgement)};
}

void Tuner::settle() {
  if (!unsettled_) return;
  Judged judged = *std::exchange(unsettled_, std::nullopt);
  Slot& slot = judged.slot;
  const bool is_new = judged.judgement.has_value();
  Outcome outcome =
      is_new ? record(slot, std::move(*judged.judgement))
             : Outcome{slot.recorded->id, slot.planned.candidate, std::move(slot.recorded->record)};
  if (!is_new) outcome.energy = slot.recorded->energy;
  count(outcome);
  if (is_new) observer_.on_evaluated({outcome.id, &outcome.record}, progress_);
  observe(outcome);
  outcomes_.push_back(std::move(outcome));
}

Tuner::Outcome Tuner::record(const Slot& slot, Judgement judgement) {
  Outcome outcome;
  outcome.candidate = slot.planned.candidate;
  EvaluationRecord& record = outcome.record;
  record.generation = slot.generation;
  record.position = slot.position;
  record.config_json = harness_.space().config_json(slot.planned.candidate);
  record.key = content_key(record.config_json);
  record.origin = slot.planned.origin;
  record.milestone = slot.planned.milestone;
  record.compilation = judgement.built.id;
  record.kernel_key = judgement.kernel_key;
  record.dynamic_shared_bytes = judgement.dynamic_shared_bytes;
  record.checks = std::move(judgement.checks);
  record.timing = judgement.timing;
  record.card = std::move(judgement.card);
  record.energy = judgement.energy;
  record.rejection = judgement.rejection;
  record.compile_ms = judgement.built.compile_ms;
  record.check_ms = judgement.check_ms;
  record.time_ms = judgement.time_ms;
  if (judgement.duplicate) {
    record.duplicate_of = first_of_kernel_.at(judgement.kernel_key).id;
  } else if (judgement.timing) {
    record.manifest_json = harness_.manifest(slot.planned.candidate);
  }
  outcome.id = store_.record_evaluation(run_, record);
  if (judgement.duplicate) {
    // What the strategy learns is the first one's outcome.
    const Fate& first = first_of_kernel_.at(judgement.kernel_key);
    record.timing = first.timing;
    record.energy = first.energy;
    record.rejection = first.rejection;
  } else if (judgement.is_green()) {
    outcome.screened = judgement.screened;
    outcome.kernel =
        harness_.kernel_of(slot.planned.candidate, judgement.built.record, judgement.kernel_key);
  }
  return outcome;
}

void Tuner::count(const Outcome& outcome) {
  const EvaluationRecord& record = outcome.record;
  ++progress_.evaluated;
  if (record.duplicate_of) {
    ++progress_.duplicates;
  } else if (record.rejection) {
    ++progress_.rejected[record.rejection->gate];
  } else if (record.timing) {
    ++progress_.green;
    green_[outcome.id] = {outcome.candidate, record.compilation.value_or(0), record.kernel_key,
                          objective_of(outcome)};
    const double best = progress_.best_us;
    if (best == 0 || record.timing->p50_us < best) progress_.best_us = record.timing->p50_us;
  } else {
    ++progress_.unjudged;
  }
  if (!record.duplicate_of && !record.kernel_key.empty()) {
    harness_.remember(record.kernel_key);
    Fate fate{outcome.id, record.timing, record.energy, record.rejection};
    if (fate.rejection) fate.rejection->detail = {};
    first_of_kernel_.emplace(record.kernel_key, std::move(fate));
  }
}

void Tuner::observe(const Outcome& outcome) {
  Observation observation{outcome.candidate};
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

KernelUnderTest Tuner::stored_kernel(const Green& green) const {
  return harness_.kernel_of(green.candidate, store_.compilation(green.compilation),
                            green.kernel_key);
}

std::optional<double> Tuner::objective_of(const Outcome& outcome) const {
  if (objective_.is_time()) return std::nullopt;
  return objective_.of(*outcome.record.timing,
                       outcome.energy ? outcome.energy : outcome.record.energy);
}

EliteMember Tuner::member_of(const Outcome& outcome) const {
  return {outcome.id,
          outcome.candidate,
          outcome.record.timing->p50_us,
          outcome.kernel ? *outcome.kernel : stored_kernel(green_.at(outcome.id)),
          outcome.screened,
          objective_of(outcome)};
}

void Tuner::challenge() {
  if (options_.aim == Aim::kRecord) return;
  std::vector<EliteMember> challengers;
  for (const Outcome& outcome : outcomes_) {
    const EvaluationRecord& record = outcome.record;
    const bool green = record.timing && !record.rejection && !record.duplicate_of;
    const bool is_known = objective_.is_time() || (green && objective_of(outcome));
    if (green && is_known && record.timing->complete) challengers.push_back(member_of(outcome));
  }
  contest_.challenge(generation_, std::move(challengers));
}

void Tuner::choose_control() {
  if (options_.aim == Aim::kSearch || contest_.has_control() || green_.empty()) return;
  const auto& [id, green] = *green_.begin();
  contest_.use_control({.id = id, .candidate = green.candidate, .kernel = stored_kernel(green)});
}

void Tuner::close_generation() {
  harness_.set_ranges({fmt::format("run {}", run_), fmt::format("generation {}", generation_)});
  choose_control();
  if (!recorded_generations_.empty()) {
    restore_generation(recorded_generations_.front());
    recorded_generations_.pop_front();
  } else {
    challenge();
    record_generation(contest_.time_control(generation_, options_.aim == Aim::kRecord));
  }
  outcomes_.clear();
  generation_started_ = harness_.clock().now();
  progress_.elapsed_s = milliseconds_between(started_, generation_started_) / 1e3;
  if (!elite().members().empty()) progress_.best_us = elite().members().front().p50_us;
  observer_.on_generation(progress_, elite().members());
}

/// Out of time: what was judged until then challenges the elite as long as there is time left.
void Tuner::close_unfinished_generation(const Stop& stop) {
  if (outcomes_.empty()) return;
  harness_.stop_when(stop);
  try {
    challenge();
  } catch (const Interrupted& interrupted) {
    if (!interrupted.out_of_time()) throw;
    progress_.left_out = contest_.left_out();
  }
  record_generation(std::nullopt);
  outcomes_.clear();
  observer_.on_generation(progress_, elite().members());
}

void Tuner::restore_generation(const GenerationRecord& generation) {
  std::vector<EliteMember> members;
  for (const EliteEntry& entry : generation.elite) {
    const Green& green = green_.at(entry.candidate);
    members.push_back({entry.candidate, green.candidate, entry.p50_us, stored_kernel(green), false,
                       green.objective});
  }
  contest_.restore(std::move(members), generation.control_p50_us);
  if (generation.control_drift) progress_.control_drift = generation.control_drift;
}

void Tuner::record_generation(const std::optional<double>& control_us) {
  GenerationRecord record;
  record.number = generation_;
  record.wall_ms = milliseconds_between(generation_started_, harness_.clock().now());
  record.control_p50_us = control_us;
  if (control_us) record.control_drift = contest_.drift(*control_us);
  if (record.control_drift) progress_.control_drift = record.control_drift;
  for (const EliteMember& member : elite().members()) {
    record.elite.push_back({member.id, member.p50_us});
  }
  store_.record_generation(run_, record);
}

}  // namespace evo
