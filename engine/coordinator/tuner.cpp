#include "engine/coordinator/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/evolve/window.hpp"

namespace evo {
namespace {

/// Of the time there is, this share (and no more than these seconds) is left for comparing the last
/// generation's kernels with the elite.
constexpr double kShareToCompare = 0.2;
constexpr double kMostSecondsToCompare = 5;

}  // namespace

std::string_view to_string(Aim aim) { return aim == Aim::kRecord ? "record" : "search"; }

Tuner::Tuner(Harness& harness, RunStore& store, const std::vector<RunId>& runs,
             const TunerOptions& options, TunerObserver& observer)
    : harness_(harness), store_(store), options_(options), observer_(observer) {
  for (std::size_t shape = 0; shape < harness.shape_count(); ++shape) {
    shapes_.push_back(std::make_unique<ShapeRun>(harness, store, runs.at(shape), options, shape));
    progress_.best.push_back({shapes_.back()->shape_name()});
  }
  progress_.generations = options.generations;
  progress_.window = options.window;
  if (options.shortlist > 0) {
    if (!harness.has_predictors() || shapes_.size() > 1 || options.aim != Aim::kSearch ||
        options.objective != "time") {
      throw InputError(
          "--shortlist: needs a device that measures, one shape and the objective time");
    }
    const ShortlistOptions of_run{options.shortlist, options.seed};
    shortlist_.emplace(harness.space(), of_run);
  }
  plan_opening();
  progress_.to_evaluate = most_evaluations();
  progress_.max_seconds = options.max_seconds;
}

/// Counts the evaluations that generations, --candidates and the space allow in the whole run.
std::size_t Tuner::most_evaluations() const {
  const std::size_t later = size_of(1) * static_cast<std::size_t>(options_.generations - 1);
  const std::size_t most = std::min(size_of(0) + later, options_.candidates);
  const SpaceCount count = harness_.space().count();
  const bool is_small = count.exact && count.value < static_cast<double>(most);
  return is_small ? static_cast<std::size_t>(count.value) : most;
}

void Tuner::plan_opening() {
  const auto add = [&](Planned planned) {
    const bool known = std::ranges::find(opened_, planned.candidate) != opened_.end();
    if (known || shapes_for(planned.candidate).empty()) return;
    opened_.push_back(planned.candidate);
    opening_.push_back(std::move(planned));
  };
  if (options_.aim == Aim::kSearch) {
    for (const Milestone& milestone : harness_.space().definition().milestones) {
      // Two milestones may be one configuration.
      if (shapes_for(milestone.candidate).empty()) continue;
      opened_.push_back(milestone.candidate);
      opening_.push_back({milestone.candidate, "milestone", milestone.name});
    }
  }
  add({harness_.space().defaults(), "default"});
  for (const KnownCandidate& known : options_.known) add({known.candidate, "warm start"});
}

/// Those where the space allows the candidate.
std::vector<ShapeRun*> Tuner::shapes_for(const Candidate& candidate) const {
  std::vector<ShapeRun*> allowed;
  for (const auto& shape : shapes_) {
    if (shapes_.size() == 1 || shape->allows(candidate)) allowed.push_back(shape.get());
  }
  return allowed;
}

SteadyTime Tuner::after(double seconds) const {
  const std::chrono::duration<double> span(seconds);
  if (span >= SteadyTime::max() - started_) return SteadyTime::max();
  return started_ + std::chrono::duration_cast<SteadyTime::duration>(span);
}

TunerEnd Tuner::run(std::vector<RunHistory> histories, const std::atomic<bool>& stop) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (i < histories.size()) shapes_[i]->take_history(std::move(histories[i]));
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
      if (settled_of_generation_ > 0) close_generation();  // there are no more candidates
      return exhausted_ ? TunerEnd::kExhausted : TunerEnd::kFinished;
    }
    const auto go_on = [this] {
      settle();
      fill_window();
    };
    harness_.meanwhile([&] {  // the device has its work first
      go_on();
      build_ahead();
    });
    generation_ = slots_.front().place.generation;
    progress_.generation = generation_ + 1;
    measure_ahead();
    Judged judged = judge(slots_.front());
    harness_.meanwhile({});
    go_on();  // where nothing was waited for; what is proposed must not depend on that
    unsettled_ = std::move(judged);
    slots_.pop_front();
    progress_.in_flight = slots_.size();
    // Which kernels are known is part of what a recorded one says to the next.
    if (!unsettled_->judgement) settle();
    if (settled_of_generation_ + (unsettled_ ? 1 : 0) == size_of(generation_)) {
      go_on();  // so that the compilers have work while kernels are compared
      close_generation();
    }
    if (stop) throw Interrupted(false);
  }
}

std::size_t Tuner::size_of(int generation) const {
  const std::size_t times = shortlist_ ? options_.shortlist + 1 : 1;
  return options_.children * times + (generation == 0 ? opened_.size() : 0);
}

std::optional<Planned> Tuner::next_planned() {
  if (!opening_.empty()) {
    Planned planned = std::move(opening_.front());
    opening_.pop_front();
    return planned;
  }
  if (shortlist_) {
    if (auto candidate = shortlist_->take_due()) return returned(std::move(*candidate));
  }
  // The shapes take turns; one that has no more leaves its turn to the next.
  for (std::size_t tried = 0; tried < shapes_.size(); ++tried) {
    ShapeRun& shape = *shapes_[next_shape_];
    next_shape_ = (next_shape_ + 1) % shapes_.size();
    if (auto planned = propose(shape)) return planned;
  }
  if (shortlist_) {
    if (auto candidate = shortlist_->take_any()) return returned(std::move(*candidate));
  }
  return std::nullopt;
}

std::optional<Planned> Tuner::propose(ShapeRun& shape) {
  while (true) {
    const std::vector<Candidate> proposed = shape.strategy().propose(1);
    if (proposed.empty()) return std::nullopt;
    // The strategy does not know what is in flight without its doing.
    if (is_under_way(proposed.front())) continue;
    Planned planned{proposed.front(), options_.strategy};
    planned.is_measured = !shortlist_ || shortlist_->measures_next();
    return planned;
  }
}

bool Tuner::is_under_way(const Candidate& candidate) const {
  if (std::ranges::find(opened_, candidate) != opened_.end()) return true;
  return std::ranges::any_of(slots_,
                             [&](const Slot& slot) { return slot.planned.candidate == candidate; });
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
      // What is being predicted may return.
      exhausted_ =
          std::ranges::all_of(slots_, [](const Slot& slot) { return slot.planned.is_measured; });
      return;
    }
    Slot slot{{next_generation_, static_cast<int>(next_position_)}, std::move(*planned)};
    slot.is_recorded = is_recorded(slot);
    if (shortlist_ && !slot.planned.is_returned) {
      slot.ticket = harness_.start_predicted(slot.planned.candidate);
    } else if (!slot.is_recorded) {
      slot.ticket = harness_.start(slot.planned.candidate);
    }
    slots_.push_back(std::move(slot));
    progress_.in_flight = slots_.size();
    ++started_slots_;
    if (++next_position_ == size_of(next_generation_)) {
      ++next_generation_;
      next_position_ = 0;
    }
  }
}

/// A history of other proposals (another version's strategy) is not continued but evaluated anew.
bool Tuner::is_recorded(const Slot& slot) const {
  const std::string config = harness_.space().config_json(slot.planned.candidate);
  return std::ranges::all_of(shapes_for(slot.planned.candidate), [&](const ShapeRun* shape) {
    return shape->knows(slot.place, config);
  });
}

void Tuner::settle() {
  if (!unsettled_) return;
  const Judged judged = *std::exchange(unsettled_, std::nullopt);
  const Slot& slot = judged.slot;
  const std::optional<Judgement>& judgement = judged.judgement;
  const std::vector<ShapeRun*> shapes = shapes_for(slot.planned.candidate);
  std::vector<RunEvaluation> evaluations;
  std::vector<CandidateId> ids;
  std::vector<std::optional<Energy>> energies(shapes.size());
  for (ShapeRun* shape : shapes) {
    if (judgement) {
      evaluations.push_back({shape->run(), shape->record_of(slot.place, slot.planned, *judgement)});
    } else {
      StoredEvaluation stored = shape->take_recorded(slot.place);
      energies[ids.size()] = stored.energy;
      ids.push_back(stored.id);
      evaluations.push_back({shape->run(), std::move(stored.record)});
    }
  }
  if (judgement) ids = store_.record_evaluations(evaluations);
  Evaluated evaluated;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const EvaluationRecord& record =
        shapes[i]->take(ids[i], slot.planned.candidate, std::move(evaluations[i].record),
                        judgement ? &*judgement : nullptr, energies[i]);
    evaluated.shapes.push_back({shapes[i]->shape_name(), ids[i], &record});
  }
  ++settled_of_generation_;
  if (!judgement) ++progress_.recorded;
  count(*evaluated.shapes.front().record);
  if (shortlist_) tell_shortlist(judged, *evaluated.shapes.front().record);
  tell_progress();
  if (judgement) observer_.on_evaluated(evaluated, progress_);
}

/// What became of a candidate; on all of its shapes it is the same.
void Tuner::count(const EvaluationRecord& record) {
  ++progress_.evaluated;
  if (record.duplicate_of) {
    ++progress_.duplicates;
  } else if (record.rejection) {
    ++progress_.rejected[record.rejection->gate];
  } else if (record.timing) {
    ++progress_.green;
  } else {
    ++progress_.unjudged;
  }
}

void Tuner::tell_progress() {
  progress_.left_out = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    progress_.best[i].us = shapes_[i]->best_us();
    progress_.left_out += shapes_[i]->left_out();
  }
  progress_.control_drift = shapes_.front()->control_drift();
  progress_.has_shortlist = shortlist_.has_value();
  if (shortlist_) {
    progress_.rank_correlation = shortlist_->rank_correlation();
    progress_.trusts_predictions = shortlist_->is_on();
  }
}

void Tuner::tell_generation() {
  tell_progress();
  std::vector<ShapeElite> elites;
  for (const auto& shape : shapes_) {
    elites.push_back({shape->shape_name(), &shape->elite().members()});
  }
  observer_.on_generation(progress_, elites);
}

double Tuner::generation_ms() const {
  return milliseconds_between(generation_started_, harness_.clock().now());
}

std::vector<std::string> Tuner::ranges(int generation) const {
  return {fmt::format("run {}", shapes_.front()->run()), fmt::format("generation {}", generation)};
}

/// A kernel that failed on one shape is not right on the others.
void Tuner::withdraw_everywhere() {
  if (shapes_.size() == 1) return;
  for (const auto& shape : shapes_) {
    for (const auto& [kernel, why] : shape->withdrawn_in(generation_)) {
      const Rejection elsewhere{why.gate, "on shape " + shape->shape_name() + ": " + why.reason,
                                why.detail};
      for (const auto& other : shapes_) {
        if (other != shape) other->dismiss(generation_, kernel, elsewhere);
      }
    }
  }
}

void Tuner::hold_elite(std::size_t shape, const LastGate& gate) {
  shapes_.at(shape)->hold_elite(gate);
  withdraw_everywhere();
}

void Tuner::close_generation() {
  harness_.set_ranges(ranges(generation_));
  for (const auto& shape : shapes_) {
    shape->close_generation(generation_, generation_ms());
    withdraw_everywhere();
  }
  interpret_elites();
  settled_of_generation_ = 0;
  generation_started_ = harness_.clock().now();
  progress_.elapsed_s = milliseconds_between(started_, generation_started_) / 1e3;
  tell_generation();
}

/// Starts early on what the end of the run waits for. The outcomes count then only: how soon they
/// come must not change what the search proposes.
void Tuner::interpret_elites() {
  if (!harness_.has_interpreter()) return;
  std::vector<KernelUnderTest> kernels;
  for (const auto& shape : shapes_) {
    for (const EliteMember& member : shape->elite().members()) kernels.push_back(member.kernel);
  }
  harness_.interpret_soon(std::move(kernels));
}

/// What was judged until then challenges the elite as long as there is time left.
void Tuner::close_unfinished_generation(const Stop& stop) {
  if (settled_of_generation_ == 0) return;
  harness_.stop_when(stop);
  for (const auto& shape : shapes_) {
    shape->close_unfinished(generation_, generation_ms());
    withdraw_everywhere();
  }
  settled_of_generation_ = 0;
  tell_generation();
}

}  // namespace evo
