#include "engine/run/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/evolve/max_in_flight.hpp"

namespace evo {
namespace {

/// Constants of seconds_to_compare(), which reserves time at the end of a run for comparing the
/// last kernels with the elite.
constexpr double kShareToCompare = 0.2;        ///< first reserve, as a fraction of the time limit
constexpr double kMostSecondsToCompare = 5;    ///< upper limit of the first and later reserves
constexpr double kTimesLongestComparison = 2;  ///< later reserve / longest_comparison_s_
constexpr double kLeastPartToCompare = 0.1;    ///< lower limit of later reserves / first reserve
}  // namespace

std::string_view to_string(Aim aim) { return aim == Aim::kRecord ? "record" : "search"; }

Tuner::Tuner(Workbench& bench, RunStore& store, const std::vector<RunId>& runs,
             const TunerOptions& options, TunerObserver& observer)
    : bench_(bench), store_(store), options_(options), observer_(observer) {
  for (std::size_t shape = 0; shape < bench.task().shape_count(); ++shape) {
    shapes_.push_back(std::make_unique<ShapeRun>(bench, store, runs.at(shape), options, shape));
    progress_.best.push_back({shapes_.back()->shape_name()});
  }
  progress_.generations = options.generations;
  progress_.max_in_flight = options.max_in_flight;
  plan_initial_population();
  progress_.to_evaluate = most_evaluations();
  progress_.max_seconds = options.max_seconds;
}

/// Upper bound of the candidates to evaluate, from the options and the size of the space.
std::size_t Tuner::most_evaluations() const {
  const std::size_t later = size_of(1) * static_cast<std::size_t>(options_.generations - 1);
  const std::size_t most = std::min(size_of(0) + later, options_.candidates);
  const SpaceCount count = bench_.task().space().count();
  const bool is_small = count.exact && count.value < static_cast<double>(most);
  return is_small ? static_cast<std::size_t>(count.value) : most;
}

void Tuner::plan_initial_population() {
  const auto add = [&](Planned planned) {
    const bool known = std::ranges::find(opened_, planned.candidate) != opened_.end();
    if (known || shapes_for(planned.candidate).empty()) return;
    opened_.push_back(planned.candidate);
    initial_population_.push_back(std::move(planned));
  };
  if (options_.aim == Aim::kSearch) {
    for (const Milestone& milestone : bench_.task().space().definition().milestones) {
      // Leaves out milestones that are invalid on all shapes, but, unlike add(), no repeated ones.
      if (shapes_for(milestone.candidate).empty()) continue;
      opened_.push_back(milestone.candidate);
      initial_population_.push_back({milestone.candidate, "milestone", milestone.name});
    }
  }
  add({bench_.task().space().defaults(), "default"});
  for (const KnownCandidate& known : options_.known) add({known.candidate, "warm start"});
}

std::vector<ShapeRun*> Tuner::shapes_for(const Candidate& candidate) const {
  std::vector<ShapeRun*> allowed;
  for (const std::size_t shape : bench_.task().shapes_for(candidate)) {
    allowed.push_back(shapes_[shape].get());
  }
  return allowed;
}

SteadyTime Tuner::after(double seconds) const {
  const std::chrono::duration<double> span(seconds);
  if (span >= SteadyTime::max() - started_) return SteadyTime::max();
  return started_ + std::chrono::duration_cast<SteadyTime::duration>(span);
}

TunerEnd Tuner::run(std::vector<RunHistory> histories, const std::atomic<bool>& stop) {
  for (std::size_t i = 0; i < histories.size(); ++i) {
    shapes_.at(i)->history() = std::move(histories[i]);
  }
  started_ = bench_.loop().now();
  generation_started_ = started_;
  bench_.loop().stop_when({&stop, after(options_.max_seconds - seconds_to_compare())});
  const TunerEnd end = search_until(stop);
  bench_.loop().stop_when({&stop});
  progress_.elapsed_s = milliseconds_between(started_, bench_.loop().now()) / 1e3;
  return end;
}

/// Searches until the end or `stop`. When the time is over, records the finished evaluations and
/// closes the generation.
TunerEnd Tuner::search_until(const std::atomic<bool>& stop) {
  try {
    return bench_.wait(search());
  } catch (const Interrupted& interrupted) {
    if (!interrupted.out_of_time()) return TunerEnd::kInterrupted;
  }
  try {
    settle_finished();
    close_unfinished_generation({&stop, after(options_.max_seconds)});
    return TunerEnd::kOutOfTime;
  } catch (const Interrupted&) {
    return TunerEnd::kInterrupted;
  }
}

double Tuner::seconds_to_compare() const {
  const bool compares =
      options_.aim == Aim::kSearch && bench_.task().device().time_kind == TimeKind::kMeasured;
  if (!compares) return 0;
  const double most = std::min(kShareToCompare * options_.max_seconds, kMostSecondsToCompare);
  const double known = kTimesLongestComparison * longest_comparison_s_;
  return known == 0 ? most : std::clamp(known, kLeastPartToCompare * most, most);
}

Task<TunerEnd> Tuner::search() {
  while (true) {
    fill_slots();
    if (slots_.empty()) {
      if (settled_of_generation_ > 0) co_await close_generation();  // all candidates were evaluated
      co_return exhausted_ ? TunerEnd::kExhausted : TunerEnd::kFinished;
    }
    generation_ = slots_.front().place.generation;
    progress_.generation = generation_ + 1;
    const std::optional<Evaluation> evaluation = co_await outcome_of(slots_.front());
    settle(slots_.front(), evaluation);
    slots_.pop_front();
    progress_.in_flight = slots_.size();
    if (settled_of_generation_ == size_of(generation_)) {
      fill_slots();  // so that compilers and devices are busy during the comparisons
      co_await close_generation();
    }
    const Stop& stop = bench_.loop().stop();
    if (stop.requested != nullptr && *stop.requested) throw Interrupted(false);
  }
}

Task<std::optional<Evaluation>> Tuner::outcome_of(const Slot& slot) {
  if (!slot.flight) co_return std::nullopt;
  while (!slot.flight->evaluation) co_await slot.flight->done.wait();
  Evaluation evaluation = take_outcome(*slot.flight);
  if (must_be_timed_again(evaluation)) {
    EvaluateOptions how = options_for(slot);
    evaluation = co_await bench_.evaluator().time_again(std::move(evaluation), std::move(how));
  }
  co_return evaluation;
}

/// Takes the outcome of a finished evaluation. Marks the kernel as a duplicate if the same kernel
/// was judged during the evaluation.
Evaluation Tuner::take_outcome(Flight& flight) const {
  Evaluation evaluation = *std::exchange(flight.evaluation, std::nullopt);
  if (evaluation.was_run && bench_.evaluator().knows(evaluation.kernel_key)) {
    evaluation.become_duplicate();
  }
  note_early_stops(evaluation);
  return evaluation;
}

/// Marks a precisely timed kernel as coarsely timed if it is slower than the early-stop limit,
/// which may have fallen meanwhile, so that the order of timings does not affect the elite.
void Tuner::note_early_stops(Evaluation& evaluation) const {
  for (ShapeEvaluation& on : evaluation.shapes) {
    if (!on.timing || on.timing->kind != TimeKind::kMeasured) continue;
    const double now_us = shapes_[on.shape]->early_stop_us();
    if (now_us < on.early_stop_us && now_us < on.timing->p50_us) on.timing->complete = false;
  }
}

/// True if a coarsely timed kernel may be faster than the early-stop limit, which has risen since.
bool Tuner::must_be_timed_again(const Evaluation& evaluation) const {
  if (bench_.task().device().time_kind != TimeKind::kMeasured || !evaluation.is_green()) {
    return false;
  }
  return std::ranges::any_of(evaluation.shapes, [&](const ShapeEvaluation& on) {
    if (!on.timing || on.timing->complete) return false;
    const double now_us = shapes_[on.shape]->early_stop_us();
    const double fastest_us = on.timing->p50_us - 2 * on.timing->std_us;
    return now_us > on.early_stop_us && fastest_us <= other_minute(now_us) * now_us;
  });
}

std::size_t Tuner::size_of(int generation) const {
  return options_.offspring + (generation == 0 ? opened_.size() : 0);
}

std::optional<Planned> Tuner::next_planned() {
  if (!initial_population_.empty()) {
    Planned planned = std::move(initial_population_.front());
    initial_population_.pop_front();
    return planned;
  }
  // The strategies of the shapes propose in turn. If a strategy has no proposal, the next shape's
  // strategy proposes.
  for (std::size_t tried = 0; tried < shapes_.size(); ++tried) {
    ShapeRun& shape = *shapes_[next_shape_];
    next_shape_ = (next_shape_ + 1) % shapes_.size();
    if (auto planned = propose(shape)) return planned;
  }
  return std::nullopt;
}

std::optional<Planned> Tuner::propose(ShapeRun& shape) {
  while (true) {
    const std::vector<Candidate> proposed = shape.strategy().propose(1);
    if (proposed.empty()) return std::nullopt;
    // Skips candidates known in advance, and candidates that are not recorded yet (slots_).
    if (!is_under_way(proposed.front())) return Planned{proposed.front(), options_.strategy};
  }
}

bool Tuner::is_under_way(const Candidate& candidate) const {
  if (std::ranges::find(opened_, candidate) != opened_.end()) return true;
  return std::ranges::any_of(slots_,
                             [&](const Slot& slot) { return slot.planned.candidate == candidate; });
}

void Tuner::fill_slots() {
  const auto limit = [&] {
    // Candidates known in advance, such as milestones, do not wait for earlier outcomes.
    const bool waits = strategy_learns(options_.strategy) && initial_population_.empty();
    return waits ? in_flight_at(started_slots_, options_.max_in_flight) : options_.max_in_flight;
  };
  while (!exhausted_ && next_generation_ < options_.generations &&
         started_slots_ < options_.candidates && slots_.size() < limit()) {
    std::optional<Planned> planned = next_planned();
    if (!planned) {
      exhausted_ = true;
      return;
    }
    slots_.push_back({{next_generation_, static_cast<int>(next_position_)},
                      std::move(*planned),
                      kFirstTurn + 1 + started_slots_});
    if (!is_recorded(slots_.back())) start(slots_.back());
    progress_.in_flight = slots_.size();
    ++started_slots_;
    if (++next_position_ == size_of(next_generation_)) {
      ++next_generation_;
      next_position_ = 0;
    }
  }
}

void Tuner::start(Slot& slot) {
  slot.flight = std::make_shared<Flight>(bench_.loop());
  bench_.loop().spawn(
      fly(slot.flight, bench_.evaluator().evaluate(slot.planned.candidate, options_for(slot))));
}

Task<> Tuner::fly(std::shared_ptr<Flight> flight, Task<Evaluation> evaluation) {
  flight->evaluation = co_await std::move(evaluation);
  flight->done.notify();
}

EvaluateOptions Tuner::options_for(const Slot& slot) const {
  return {.check_kind = CheckKind::kQuick,
          .turn = slot.turn,
          .knows_kernels = true,
          .early_stop_us = [this](std::size_t shape) { return shapes_[shape]->early_stop_us(); },
          .ranges = {fmt::format("run {}", shapes_.front()->run()),
                     fmt::format("generation {}", slot.place.generation),
                     fmt::format("candidate {}.{}", slot.place.generation, slot.place.position)}};
}

/// True if the history of a resumed run has the candidate at its position in the generation.
/// Compares configurations: another version of evo-tune may have proposed a different one.
bool Tuner::is_recorded(const Slot& slot) const {
  const std::string config = bench_.task().space().config_json(slot.planned.candidate);
  return std::ranges::all_of(shapes_for(slot.planned.candidate), [&](ShapeRun* shape) {
    return shape->history().knows(slot.place, config);
  });
}

void Tuner::settle(const Slot& slot, const std::optional<Evaluation>& evaluation) {
  const std::vector<ShapeRun*> shapes = shapes_for(slot.planned.candidate);
  std::vector<EvaluationRecord> records;
  for (ShapeRun* shape : shapes) {
    records.push_back(evaluation ? shape->record_of(slot.place, slot.planned, *evaluation)
                                 : shape->history().take(slot.place));
  }
  if (evaluation) {
    const std::vector<CandidateId> ids = store_.record_evaluations(records);
    for (std::size_t i = 0; i < ids.size(); ++i) records[i].id = ids[i];
  }
  Evaluated evaluated;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const EvaluationRecord& record = shapes[i]->take(slot.planned.candidate, std::move(records[i]),
                                                     evaluation ? &*evaluation : nullptr);
    evaluated.shapes.push_back({shapes[i]->shape_name(), &record});
  }
  ++settled_of_generation_;
  if (!evaluation) ++progress_.recorded;
  progress_.count(*evaluated.shapes.front().record);
  tell_progress();
  if (evaluation) observer_.on_evaluated(evaluated, progress_);
}

void Tuner::tell_progress() {
  progress_.elapsed_s = milliseconds_between(started_, bench_.loop().now()) / 1e3;
  progress_.left_out = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const ShapeRun::Standing standing = shapes_[i]->standing();
    progress_.best[i].us = standing.best_us;
    progress_.left_out += standing.left_out;
    if (i == 0) progress_.control_drift = standing.control_drift;
  }
}

void Tuner::tell_generation() {
  tell_progress();
  std::vector<ShapeElite> elites;
  for (const auto& shape : shapes_) {
    elites.push_back({shape->shape_name(), &shape->tournament().elite().members()});
  }
  observer_.on_generation(progress_, elites);
}

double Tuner::generation_ms() const {
  return milliseconds_between(generation_started_, bench_.loop().now());
}

/// If a kernel fails on one shape, withdraws it on all shapes, unless the profile gate rejects it.
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

Task<> Tuner::close_generation() {
  const SteadyTime start = bench_.loop().now();
  for (const auto& shape : shapes_) {
    co_await shape->close_generation(generation_, generation_ms());
    withdraw_everywhere();
  }
  longest_comparison_s_ =
      std::max(longest_comparison_s_, milliseconds_between(start, bench_.loop().now()) / 1e3);
  bench_.loop().stop_when(
      {bench_.loop().stop().requested, after(options_.max_seconds - seconds_to_compare())});
  interpret_elites();
  settled_of_generation_ = 0;
  generation_started_ = bench_.loop().now();
  tell_generation();
}

/// Starts to execute the elites on the virtual GPU early. The verdicts of the virtual GPU are
/// ignored until the run ends, because their arrival times must not influence proposals.
void Tuner::interpret_elites() {
  if (!bench_.interpreted().has_interpreter()) return;
  std::vector<KernelUnderTest> kernels;
  for (const auto& shape : shapes_) {
    for (const EliteMember& member : shape->tournament().elite().members()) {
      kernels.push_back(member.kernel);
    }
  }
  bench_.interpreted().want(std::move(kernels));
}

/// Records all finished candidates, except those that must be timed again, even if they follow an
/// unfinished candidate. A run that is continued later finds them in its history.
void Tuner::settle_finished() {
  for (const Slot& slot : slots_) {
    if (!slot.flight || !slot.flight->evaluation) continue;
    const Evaluation evaluation = take_outcome(*slot.flight);
    if (must_be_timed_again(evaluation)) continue;
    if (settled_of_generation_ == 0) generation_ = slot.place.generation;
    settle(slot, evaluation);
  }
  slots_.clear();
}

/// Lets candidates of the last, incomplete generation challenge the elite while there is time.
void Tuner::close_unfinished_generation(const Stop& stop) {
  if (settled_of_generation_ == 0) return;
  bench_.loop().stop_when(stop);
  for (const auto& shape : shapes_) {
    shape->close_unfinished(generation_, generation_ms());
    withdraw_everywhere();
  }
  settled_of_generation_ = 0;
  tell_generation();
}

}  // namespace evo
