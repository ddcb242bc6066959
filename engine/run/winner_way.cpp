#include "engine/run/winner_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/space/constraint.hpp"

namespace evo {
namespace {

/// Fraction of the time limit for ordering a path's steps; the rest is for measuring the steps.
constexpr double kShareToRank = 1.0 / 3;

constexpr const char* kTimeOver = "the time limit was reached";

std::string about(const WayStart& start) {
  return start.name == "default" ? "the default configuration" : "the milestone " + start.name;
}

SteadyTime later(SteadyTime from, double seconds) {
  const std::chrono::duration<double> span(seconds);
  return from + std::chrono::duration_cast<SteadyTime::duration>(span);
}

/// Adds a deadline to the loop's stop condition, and restores the former condition at the end
/// of the scope.
class StopFor {
 public:
  StopFor(EventLoop& loop, SteadyTime deadline) : loop_(loop), before_(loop.stop()) {
    loop_.stop_when({before_.requested, std::min(before_.deadline, deadline)});
  }
  ~StopFor() { loop_.stop_when(before_); }
  StopFor(const StopFor&) = delete;
  StopFor& operator=(const StopFor&) = delete;

 private:
  EventLoop& loop_;
  Stop before_;
};

}  // namespace

WayFinder::WayFinder(Workbench& bench, const EliteMember& winner, const KnownTimes& known,
                     std::size_t at)
    : bench_(bench), winner_(winner), at_(at) {
  for (const auto& [candidate, p50_us] : known) {
    nodes_[candidate] = {
        .p50_us = p50_us, .is_checked = p50_us.has_value(), .has_failed = !p50_us.has_value()};
  }
  nodes_[winner.candidate] = {.kernel = winner.kernel, .p50_us = winner.p50_us, .is_checked = true};
}

WayFinder::Node& WayFinder::node(const Candidate& candidate) { return nodes_[candidate]; }

void WayFinder::start_building(const Candidate& candidate) {
  Node& made = node(candidate);
  if (made.kernel || made.is_started || made.has_failed) return;
  made.is_started = true;
  bench_.evaluator().prefetch(candidate);
}

bool WayFinder::build(const Candidate& candidate) {
  start_building(candidate);
  Node& made = node(candidate);
  if (made.kernel || made.has_failed) return !made.has_failed;
  const Evaluation built = bench_.wait(bench_.evaluator().build(candidate, {}));
  made.has_failed = built.rejection.has_value();
  if (!made.has_failed) made.kernel = kernel_under_test(bench_.task(), built);
  return !made.has_failed;
}

bool WayFinder::time(const Candidate& candidate) {
  if (!build(candidate)) return false;
  Node& made = node(candidate);
  if (made.p50_us) return true;
  const std::optional<Timing> timing =
      bench_.wait(bench_.take_home().time_again(*made.kernel, true, at_));
  made.has_failed = !timing;
  if (timing) made.p50_us = timing->p50_us;
  return timing.has_value();
}

bool WayFinder::check(const Candidate& candidate) {
  Node& made = node(candidate);
  if (made.is_checked) return true;
  if (!time(candidate)) return false;
  const auto answer = bench_.wait(bench_.take_home().check_quickly(*made.kernel));
  const auto* result = std::get_if<CorrectnessResult>(&answer);
  made.is_checked = result != nullptr && !result->rejection;
  made.has_failed = !made.is_checked;
  return made.is_checked;
}

std::vector<std::size_t> WayFinder::differing(const Candidate& candidate) const {
  std::vector<std::size_t> parameters;
  for (std::size_t p = 0; p < candidate.choice.size(); ++p) {
    if (candidate.choice[p] != winner_.candidate.choice[p]) parameters.push_back(p);
  }
  return parameters;
}

WayFinder::Option WayFinder::option_for(const Candidate& from, std::size_t parameter) const {
  const Space& space = bench_.task().space(at_);
  const std::vector<std::size_t> left = differing(from);
  std::set<std::size_t> changed = {parameter};
  Option option;
  while (true) {
    option.candidate = from;
    for (const std::size_t p : changed) option.candidate.choice[p] = winner_.candidate.choice[p];
    const ConstraintText* broken = space.violated(option.candidate);
    if (broken == nullptr) break;
    if (option.note.empty()) option.note = "the space requires " + broken->shown();
    const std::size_t before = changed.size();
    const Constraint constraint(broken->expression, space.parameters());
    for (const std::size_t p : constraint.scope()) {
      if (std::ranges::find(left, p) != left.end()) changed.insert(p);
    }
    if (changed.size() == before) changed.insert(left.begin(), left.end());
  }
  option.parameters.assign(changed.begin(), changed.end());
  return option;
}

std::vector<WayFinder::Option> WayFinder::options_at(const Candidate& from) const {
  std::vector<Option> options;
  for (const std::size_t parameter : differing(from)) {
    Option option = option_for(from, parameter);
    const bool is_there = std::ranges::any_of(
        options, [&](const Option& other) { return other.candidate == option.candidate; });
    if (!is_there) options.push_back(std::move(option));
  }
  return options;
}

WayFinder::Option WayFinder::all_at_once(const Candidate& from, std::string note) const {
  return {differing(from), winner_.candidate, std::move(note)};
}

void WayFinder::sort_by_gain(std::vector<Option>& options) const {
  const auto gain = [&](const Option& option) {
    const auto found = gains_.find(option.parameters.front());
    return found != gains_.end() ? found->second : std::numeric_limits<double>::infinity();
  };
  std::ranges::stable_sort(options,
                           [&](const Option& a, const Option& b) { return gain(a) < gain(b); });
}

void WayFinder::rank(const Candidate& from, const std::vector<Option>& options, SteadyTime until) {
  if (bench_.loop().now() >= until) return;
  for (const Option& option : options) start_building(option.candidate);
  const double before_us = *node(from).p50_us;
  for (const Option& option : options) {
    if (bench_.loop().now() >= until) return;
    if (!time(option.candidate)) continue;
    gains_[option.parameters.front()] = std::log(*node(option.candidate).p50_us / before_us);
  }
}

/// Starts to compile all configurations that the path will probably contain, in parallel.
void WayFinder::build_ahead(Candidate from) {
  while (from != winner_.candidate) {
    std::vector<Option> options = options_at(from);
    sort_by_gain(options);
    from = options.front().candidate;
    start_building(from);
  }
}

WinnerStep WayFinder::described(const Candidate& from, const Option& option) {
  const Space& space = bench_.task().space(at_);
  WinnerStep step;
  step.config_json = space.config_json(option.candidate);
  for (const std::size_t p : option.parameters) {
    if (from.choice[p] == option.candidate.choice[p]) continue;
    step.changes.push_back({std::string(space.parameter_name(p)),
                            space.value_text(p, from.choice[p]),
                            space.value_text(p, option.candidate.choice[p])});
  }
  step.p50_us = *node(option.candidate).p50_us;
  step.ratio = step.ratio_low = step.ratio_high = step.p50_us / *node(from).p50_us;
  if (step.changes.size() > 1) step.note = option.note;
  return step;
}

/// Measures the gain of a step from one configuration to another, and describes the step; nullopt
/// if a kernel fails.
std::optional<WinnerStep> WayFinder::step_to(const Candidate& from, const Option& option) {
  if (!time(option.candidate) || !build(from)) return std::nullopt;
  WinnerStep step = described(from, option);
  const KernelUnderTest& before = *node(from).kernel;
  const KernelUnderTest& after = *node(option.candidate).kernel;
  if (before.key == after.key) {
    step.ratio = step.ratio_low = step.ratio_high = 1;
    step.note = "the same kernel";
    return step;
  }
  if (bench_.task().device().time_kind != TimeKind::kMeasured) return step;
  const PairResult pair = bench_.wait(bench_.take_home().compare_pair(after, before, at_));
  if (pair.rejection) {
    node(option.candidate).has_failed = true;
    return std::nullopt;
  }
  step.ratio = pair.ratio;
  step.ratio_low = pair.interval.low;
  step.ratio_high = pair.interval.high;
  step.pairs = pair.pairs;
  return step;
}

WinnerStep WayFinder::next_step(Candidate& current, SteadyTime rank_until) {
  std::vector<Option> options = options_at(current);
  if (options.size() > 1) rank(current, options, rank_until);
  sort_by_gain(options);
  for (const Option& option : options) {
    std::optional<WinnerStep> step = step_to(current, option);
    if (!step) continue;
    current = option.candidate;
    return *std::move(step);
  }
  const Option rest = all_at_once(current, "a change of only some of these macros fails a gate");
  std::optional<WinnerStep> step = step_to(current, rest);
  // The winner is green even if the comparison failed, so the step is described without a
  // comparison.
  if (!step) step = described(current, rest);
  current = winner_.candidate;
  return *std::move(step);
}

void WayFinder::walk(WinnerWay& way, SteadyTime rank_until) {
  bool is_built_ahead = false;
  Candidate current = path_.back();
  while (current != winner_.candidate) {
    const bool may_rank = bench_.loop().now() < rank_until;
    if (!may_rank && !is_built_ahead) build_ahead(current);
    is_built_ahead = is_built_ahead || !may_rank;
    way.steps.push_back(next_step(current, may_rank ? rank_until : SteadyTime::min()));
    path_.push_back(current);
  }
}

/// Checks the kernels on the path until one fails. Returns true if all kernels pass.
bool WayFinder::passes_checks() {
  return std::ranges::all_of(path_, [&](const Candidate& candidate) { return check(candidate); });
}

void WayFinder::note_unchecked(WinnerWay& way) {
  for (std::size_t i = 0; i < path_.size(); ++i) {
    if (node(path_[i]).is_checked) continue;
    std::string& note = way.steps[i].note;
    note += (note.empty() ? "" : "; ") + std::string("not checked: the time limit was reached");
  }
}

FoundWay WayFinder::find(const WayStart& start, double seconds) {
  const SteadyTime now = bench_.loop().now();
  const StopFor stop(bench_.loop(), later(now, seconds));
  WinnerWay way{.start = start.name, .winner = winner_.id};
  gains_.clear();
  try {
    if (!check(start.candidate)) return {.why_not = about(start) + " is not green"};
    do {
      path_ = {start.candidate};
      way.steps = {{.config_json = bench_.task().space(at_).config_json(start.candidate),
                    .p50_us = *node(start.candidate).p50_us}};
      walk(way, later(now, kShareToRank * seconds));
    } while (!passes_checks());
  } catch (const Interrupted& interrupted) {
    if (!interrupted.out_of_time()) throw;
    if (way.steps.empty()) {
      return {.why_not = "the time limit was reached before " + about(start) + " was timed"};
    }
    if (path_.back() != winner_.candidate) {
      way.steps.push_back(described(path_.back(), all_at_once(path_.back(), kTimeOver)));
      path_.push_back(winner_.candidate);
    }
  }
  note_unchecked(way);
  return {.way = std::move(way)};
}

}  // namespace evo
