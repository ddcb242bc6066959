#include "engine/run/shape_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/core/hash.hpp"
#include "engine/core/random.hpp"

namespace evo {
namespace {

/// In a search with very long launches, the control is timed again only after the time of this many
/// launches. A timing takes about five launches, so it takes at most a twentieth of the run.
constexpr double kLaunchesBetweenControls = 100;

/// The first shape has the strategy seed that a run over this shape alone would have.
std::uint64_t seed_for(std::uint64_t seed, std::size_t shape) {
  return shape == 0 ? seed : mix_seed(seed, shape);
}

std::vector<std::string> ranges_of(RunId run, int generation) {
  return {fmt::format("run {}", run), fmt::format("generation {}", generation)};
}

}  // namespace

ShapeRun::ShapeRun(Workbench& bench, RunStore& store, RunId run, const TunerOptions& options,
                   std::size_t shape)
    : bench_(bench),
      store_(store),
      run_(run),
      shape_(shape),
      aim_(options.aim),
      objective_(options.objective),
      strategy_(make_strategy(options.strategy, bench.task().space(shape),
                              {options.elite, seed_for(options.seed, shape)})),
      tournament_(bench.task(), store, run, options.elite, shape, options.objective) {}

double ShapeRun::early_stop_us() const {
  // A run that records all times never stops timing early, nor does one with another objective.
  if (!objective_.is_time() || aim_ == Aim::kRecord) return std::numeric_limits<double>::infinity();
  std::vector<double> times_us;
  for (const EliteMember& member : elite().members()) times_us.push_back(member.p50_us);
  for (const CandidateId id : of_generation_) {
    const Judged& judged = judged_.at(id);
    const bool counts = may_challenge(judged) && !tournament_.was_withdrawn(id);
    if (counts && !elite().contains(id)) times_us.push_back(judged.record.timing->p50_us);
  }
  std::ranges::sort(times_us);
  // Timing may stop early for kernels slower than the (n + 1)-th best, where n is the capacity of
  // the elite, because one kernel may be withdrawn. If launches are very long, timing may stop
  // early for kernels slower than the n-th best.
  std::size_t last = elite().capacity();
  if (last > 0 && times_us.size() >= last && times_us[last - 1] >= kVeryLongLaunchUs) --last;
  if (times_us.size() <= last) return elite().early_stop_us();
  return std::min(elite().early_stop_us(), times_us[last]);
}

ShapeRun::Standing ShapeRun::standing() const {
  const auto& members = elite().members();
  return {members.empty() ? fastest_us_ : members.front().p50_us, left_out_, control_drift_};
}

EvaluationRecord ShapeRun::record_of(const SlotPlace& place, const Planned& planned,
                                     const Evaluation& evaluation) const {
  const ShapeEvaluation& here = *evaluation.on(shape_);
  EvaluationRecord record;
  record.run = run_;
  record.generation = place.generation;
  record.position = place.position;
  record.config_json = bench_.task().space().config_json(planned.candidate);
  record.key = content_key(record.config_json);
  record.origin = planned.origin;
  record.milestone = planned.milestone;
  record.compilation = evaluation.compilation.id;
  record.kernel_key = evaluation.kernel_key;
  record.dynamic_shared_bytes = here.dynamic_shared_bytes;
  record.checks = bench_.task().checks_on(evaluation.checks, shape_);
  record.timing = here.timing;
  record.place = here.place;
  record.gpu = here.gpu;
  record.energy = here.energy;
  record.rejection = evaluation.rejection;
  record.compile_ms = evaluation.compilation.wall_ms;
  record.check_ms = evaluation.check_ms;
  record.time_ms = here.time_ms;
  if (evaluation.duplicate) {
    record.duplicate_of = first_of_kernel_.at(evaluation.kernel_key);
  } else if (here.timing) {
    record.manifest_json = bench_.task().manifest(planned.candidate, shape_);
  }
  return record;
}

const EvaluationRecord& ShapeRun::take(const Candidate& candidate, EvaluationRecord stored,
                                       const Evaluation* evaluation) {
  const CandidateId id = stored.id;
  Judged& judged = judged_[id] = Judged{candidate, std::move(stored)};
  EvaluationRecord& record = judged.record;
  of_generation_.push_back(id);
  all_recorded_ = all_recorded_ && evaluation == nullptr;
  if (evaluation != nullptr && evaluation->duplicate) {
    // For a duplicate, the strategy observes the outcome of the first candidate with the kernel.
    const EvaluationRecord& first = judged_.at(first_of_kernel_.at(evaluation->kernel_key)).record;
    record.timing = first.timing;
    record.place = first.place;
    record.energy = first.energy;
    record.rejection = first.rejection;
    if (record.rejection) record.rejection->detail = {};
  } else if (evaluation != nullptr && evaluation->is_green()) {
    judged.only_quick_check = evaluation->only_quick_check;
    judged.kernel = kernel_under_test(bench_.task(), *evaluation);
  }
  if (judged.is_green() && (fastest_us_ == 0 || record.timing->p50_us < fastest_us_)) {
    fastest_us_ = record.timing->p50_us;
  }
  if (!record.duplicate_of && !record.kernel_key.empty()) {
    bench_.evaluator().remember(record.kernel_key);
    first_of_kernel_.emplace(record.kernel_key, id);
  }
  observe(judged);
  return record;
}

void ShapeRun::observe(const Judged& judged) {
  const EvaluationRecord& record = judged.record;
  Observation observation{judged.candidate};
  if (record.is_for_want_of_compiler()) return;
  if (record.rejection) {
    observation.failed_at = record.rejection->gate;
  } else if (record.timing) {
    observation.time_us = objective_.of(*record.timing, record.energy);
    if (!observation.time_us) return;  // the energy was not measured
  } else {
    return;  // the candidate was not judged
  }
  strategy_->observe({&observation, 1});
}

KernelUnderTest ShapeRun::kernel_of(const Judged& judged) const {
  if (judged.kernel) return *judged.kernel;
  return kernel_under_test(bench_.task(), judged.candidate,
                           store_.compilation(judged.record.compilation.value_or(0)),
                           judged.record.kernel_key, bench_.task().shapes_for(judged.candidate));
}

/// A candidate's value of the objective; nullopt if the objective is the time or is unknown.
std::optional<double> ShapeRun::objective_of(const Judged& judged) const {
  if (objective_.is_time()) return std::nullopt;
  const EvaluationRecord& record = judged.record;
  return objective_.of(*record.timing, record.elite_energy ? record.elite_energy : record.energy);
}

bool ShapeRun::may_challenge(const Judged& judged) const {
  return judged.is_green() && judged.record.timing->complete &&
         (objective_.is_time() || objective_of(judged));
}

EliteMember ShapeRun::member_of(const Judged& judged) const {
  return {judged.record.id,  judged.candidate,        judged.record.timing->p50_us,
          kernel_of(judged), judged.only_quick_check, objective_of(judged)};
}

std::vector<EliteMember> ShapeRun::challengers() const {
  std::vector<EliteMember> challengers;
  if (aim_ == Aim::kRecord) return challengers;
  for (const CandidateId id : of_generation_) {
    const Judged& judged = judged_.at(id);
    if (may_challenge(judged)) challengers.push_back(member_of(judged));
  }
  return challengers;
}

Task<> ShapeRun::challenge(int generation, std::vector<EliteMember> challengers) {
  if (!has_device(bench_)) co_return;
  co_await bench_.at_home([&](HomeDevice& home) {
    home.set_ranges(ranges_of(run_, generation));
    return tournament_.challenge(home, generation, challengers);
  });
}

Task<std::optional<double>> ShapeRun::time_control(int generation) {
  using Clock = std::chrono::steady_clock;
  std::optional<double> time_us;
  const bool closely = aim_ == Aim::kRecord;
  if (!has_device(bench_) || (!closely && Clock::now() < control_due_)) co_return time_us;
  co_await bench_.at_home([&](HomeDevice& home) -> Task<> {
    home.set_ranges(ranges_of(run_, generation));
    time_us = co_await tournament_.time_control(home, generation, closely);
  });
  if (time_us && *time_us >= kVeryLongLaunchUs) {
    const std::chrono::duration<double, std::micro> pause(kLaunchesBetweenControls * *time_us);
    control_due_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
  }
  co_return time_us;
}

void ShapeRun::choose_control() {
  if (aim_ == Aim::kSearch || tournament_.control() != nullptr) return;
  const auto green =
      std::ranges::find_if(judged_, [](const auto& one) { return one.second.is_green(); });
  if (green == judged_.end()) return;
  const auto& [id, judged] = *green;
  tournament_.use_control({.id = id, .candidate = judged.candidate, .kernel = kernel_of(judged)});
}

Task<> ShapeRun::close_generation(int generation, double wall_ms) {
  choose_control();
  // In an extended run, the recorded generation may be incomplete, because a time limit ended it.
  const std::optional<GenerationRecord> recorded = history_.take_generation();
  if (recorded && all_recorded_) {
    restore_generation(*recorded);
  } else {
    co_await challenge(generation, challengers());
    record_generation(generation, wall_ms, co_await time_control(generation));
  }
  end_generation(generation);
}

std::map<std::string, Rejection> ShapeRun::withdrawn_in(int generation) const {
  std::map<std::string, Rejection> kernels;
  for (const auto& [candidate, withdrawn] : tournament_.withdrawn()) {
    const auto judged = judged_.find(candidate);
    if (withdrawn.generation != generation || judged == judged_.end()) continue;
    if (withdrawn.why.gate == Gate::kProfile) continue;
    kernels.emplace(judged->second.record.kernel_key, withdrawn.why);
  }
  return kernels;
}

void ShapeRun::dismiss(int generation, const std::string& kernel_key, const Rejection& why) {
  const auto first = first_of_kernel_.find(kernel_key);
  if (first == first_of_kernel_.end() || !judged_.at(first->second).is_green()) return;
  tournament_.dismiss(generation, first->second, why);
}

/// The number of kernels that `gate` withdrew in the last completed generation.
std::size_t ShapeRun::rejected_last(Gate gate) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(tournament_.withdrawn(), [&](const auto& one) {
        return one.second.generation == closed_ && one.second.why.gate == gate;
      }));
}

std::optional<EliteMember> ShapeRun::next_in_line(const std::set<CandidateId>& without) const {
  const Judged* next = nullptr;
  double least = 0;
  for (const auto& [id, judged] : judged_) {
    if (!may_challenge(judged) || tournament_.was_withdrawn(id) || without.contains(id)) continue;
    const double value = objective_of(judged).value_or(judged.record.timing->p50_us);
    if (next != nullptr && value >= least) continue;
    next = &judged;
    least = value;
  }
  if (next == nullptr) return std::nullopt;
  EliteMember member = member_of(*next);
  member.only_quick_check = true;
  return member;
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
        tournament_.dismiss(closed_, id, *verdict->rejection);
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
    bench_.wait(challenge(closed_, {std::move(*challenger)}));
  }
  const bool is_recorded = std::ranges::equal(elite().members(), last_.elite, {}, &EliteMember::id);
  if (!is_recorded) record_elite();
}

/// Stores the last completed generation again with the present elite.
void ShapeRun::record_elite() {
  last_.elite.clear();
  for (const EliteMember& member : elite().members()) last_.elite.push_back(member.id);
  store_.record_generation(run_, last_);
}

void ShapeRun::close_unfinished(int generation, double wall_ms) {
  if (closed_ == generation || of_generation_.empty()) return;
  try {
    bench_.wait(challenge(generation, challengers()));
  } catch (const Interrupted& interrupted) {
    if (!interrupted.out_of_time()) throw;
    left_out_ = tournament_.left_out();
    if (elite().members().empty() && left_out_ > 0) admit_fastest(generation);
  }
  record_generation(generation, wall_ms, std::nullopt);
  end_generation(generation);
}

/// Gives a run whose time ended before its first comparison a winner: the fastest green kernel that
/// passes the full check, which may end after the deadline.
void ShapeRun::admit_fastest(int generation) {
  bench_.loop().stop_when({bench_.loop().stop().requested});
  std::set<CandidateId> tried;
  while (elite().members().empty()) {
    std::optional<EliteMember> fastest = next_in_line(tried);
    if (!fastest) return;
    tried.insert(fastest->id);
    bench_.wait(challenge(generation, {std::move(*fastest)}));
    if (left_out_ > 0) --left_out_;
  }
}

void ShapeRun::end_generation(int generation) {
  for (const CandidateId id : of_generation_) {
    Judged& judged = judged_.at(id);
    judged.kernel.reset();  // the database keeps the kernel's code
    judged.record.checks = {};
    judged.record.manifest_json = {};
    if (judged.record.rejection) judged.record.rejection->detail = {};
  }
  of_generation_.clear();
  all_recorded_ = true;
  closed_ = generation;
}

void ShapeRun::restore_generation(const GenerationRecord& generation) {
  std::vector<EliteMember> members;
  for (const CandidateId id : generation.elite) {
    members.push_back(member_of(judged_.at(id)));
    members.back().only_quick_check = false;
  }
  tournament_.restore(generation.number, std::move(members), generation.control_p50_us);
  if (generation.control_drift) control_drift_ = generation.control_drift;
  last_ = generation;
}

void ShapeRun::record_generation(int generation, double wall_ms,
                                 const std::optional<double>& control_us) {
  GenerationRecord record;
  record.number = generation;
  record.wall_ms = wall_ms;
  record.control_p50_us = control_us;
  if (control_us) record.control_drift = tournament_.drift(*control_us);
  if (record.control_drift) control_drift_ = record.control_drift;
  last_ = std::move(record);
  record_elite();
}

}  // namespace evo
