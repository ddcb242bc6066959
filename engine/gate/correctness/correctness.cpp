#include "engine/gate/correctness/correctness.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <set>

#include "engine/gate/correctness/element_sample.hpp"
#include "engine/gate/correctness/sampled_check.hpp"

namespace evo {
namespace {

/// Launches of at most this total time are queued before the worker waits for them and reports
/// progress.
constexpr double kMostQueuedMs = 500;

/// Waits for the queued launches, each of which takes `launch_ms`, if they take long together.
void settle_if_long(Trials& trials, double launch_ms) {
  if (static_cast<double>(trials.unsettled()) * launch_ms > kMostQueuedMs) trials.settle();
}

void append(CorrectnessResult& total, CorrectnessResult part) {
  std::move(part.checks.begin(), part.checks.end(), std::back_inserter(total.checks));
  total.rejection = std::move(part.rejection);
  total.device_lost = part.device_lost;
  total.fault = part.fault;
  total.complete = total.complete && part.complete;
  std::move(part.times.begin(), part.times.end(), std::back_inserter(total.times));
}

/// Times the launches of one check on one shape, and decides whether the kernel is too slow.
class ShapeClock {
 public:
  /// `stop` must outlive this object.
  ShapeClock(const EarlyStop& stop, const std::string& shape, bool measures) : stop_(stop) {
    const auto limit = stop.limit_us.find(shape);
    if (!measures || limit == stop.limit_us.end()) return;
    limit_us_ = limit->second;
    time_ = CheckedTime{shape, std::numeric_limits<double>::infinity()};
  }

  void add(double launch_us) {
    if (!time_) return;
    ++launches_;
    time_->fastest_us = std::min(time_->fastest_us, launch_us);
    // `was_idle` is false for very long launches, because the rise of an idle device's clocks
    // hardly changes their times.
    time_->was_idle = stop_.was_idle && time_->fastest_us < kVeryLongLaunchUs;
  }

  [[nodiscard]] bool is_slow() const {
    return time_ && stop_.times != nullptr &&
           stop_.times->is_surely_slower(place(), time_->fastest_us, limit_us_);
  }
  [[nodiscard]] bool is_very_slow() const {
    return is_slow() && time_->fastest_us >= kVeryLongLaunchUs;
  }

  /// The result of a check that ends early because the kernel is too slow.
  [[nodiscard]] CorrectnessResult end(Trials& trials) {
    time_->too_slow = stop_.times->timing_of(place(), time_->fastest_us, launches_);
    CorrectnessResult result = take(trials);
    result.complete = false;
    return result;
  }

  [[nodiscard]] CorrectnessResult take(Trials& trials) {
    CorrectnessResult result = trials.take();
    if (time_ && !result.rejection) result.times.push_back(*time_);
    return result;
  }

 private:
  [[nodiscard]] CheckTimes::Place place() const { return {time_->shape, time_->was_idle}; }

  const EarlyStop& stop_;
  double limit_us_ = 0;
  int launches_ = 0;
  std::optional<CheckedTime> time_;
};

}  // namespace

double steady_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void CorrectnessGate::sort_by_work(std::vector<const Shape*>& shapes) const {
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const Shape* a, const Shape* b) { return work_of(*a) < work_of(*b); });
}

CorrectnessResult CorrectnessGate::check(const LoadedKernel& kernel,
                                         std::vector<const Shape*> shapes, CheckKind check_kind,
                                         const EarlyStop& stop, const Progress& progress) {
  sort_by_work(shapes);
  Job job{kernel, check_kind, stop, progress};
  CorrectnessResult total;
  double flops = 0;
  for (const Shape* shape : shapes) {
    flops += work_of(*shape);
    const bool is_enough = !total.checks.empty() && flops > options_.flops_of_all_shapes;
    if (is_enough) break;
    append(total, check_shape(job, *shape));
    if (total.rejection) return total;
    job.has_run = true;
  }
  if (total.checks.empty()) {
    total.rejection = Rejection{Gate::kCorrectness, "no shape was checked"};
    return total;
  }
  cases_.require_meaningful();
  return total;
}

double CorrectnessGate::work_of(const Shape& shape) const {
  return problem_.flops.evaluate(shape.variables);
}

std::size_t CorrectnessGate::seeds_for(const Shape& shape, CheckKind check_kind) {
  // If no input depends on the seed, a virtual GPU needs one case only, because it always gives the
  // same result for the same data. A GPU needs all cases, because a race condition may show only in
  // a later launch.
  const bool is_one_case = !measures() && !has_drawn_inputs();
  if (is_one_case || work_of(shape) > options_.flops_for_all_seeds) return 1;
  // If the reference takes long on this shape, most kernels do, too, so a check other than the full
  // check has no time for all seeds and uses only two.
  constexpr std::size_t kOfLongReference = 2;
  const bool has_few =
      measures() && check_kind != CheckKind::kFull && cases_.has_long_reference(shape);
  return has_few ? std::min(options_.seeds, kOfLongReference) : options_.seeds;
}

/// Whether an input depends on the seed.
bool CorrectnessGate::has_drawn_inputs() const {
  return std::ranges::any_of(problem_.arguments, &Argument::is_drawn);
}

/// The work of a launch in floating-point operations, by which a virtual GPU limits a quick check:
/// the work of the problem or the work of the launched threads, whichever is larger.
double CorrectnessGate::quick_check_work(const LoadedKernel& kernel, const Shape& shape) {
  if (options_.flops_of_thread == 0) return work_of(shape);
  double threads = 0;
  for (const LaunchStep& step : kernel.launch_for(cases_.inputs(shape, 0)).steps) {
    threads += static_cast<double>(step.config.ctas() * step.config.threads());
  }
  return std::max(work_of(shape), options_.flops_of_thread * threads);
}

bool CorrectnessGate::is_too_large(const LoadedKernel& kernel, const Shape& shape,
                                   CheckKind check_kind) {
  if (device_.interpreting() == nullptr) return false;
  if (work_of(shape) > options_.flops_of_whole_grids) return true;
  return check_kind == CheckKind::kQuick &&
         quick_check_work(kernel, shape) > options_.flops_of_quick_check;
}

bool CorrectnessGate::can_be_sampled(const Shape& shape) const {
  return device_.interpreting() != nullptr &&
         SampledCheck::is_possible(problem_, cases_.values_of(shape));
}

bool CorrectnessGate::repeats(const LoadedKernel& kernel, const Shape& shape, CheckKind check_kind,
                              double first_launch_ms) {
  // A virtual GPU tracks writes, so it finds unwritten elements without a repeated launch over
  // another poison.
  const bool is_long = work_of(shape) > options_.flops_for_all_seeds || options_.seeds == 1;
  if (is_long && device_.interpreting() != nullptr) return false;
  return measures() ? allows_repeat(check_kind, first_launch_ms)
                    : most_launches(kernel, shape, check_kind, first_launch_ms) > 1;
}

std::size_t CorrectnessGate::most_launches(const LoadedKernel& kernel, const Shape& shape,
                                           CheckKind check_kind, double launch_ms) {
  if (measures()) return launches_allowed(check_kind, launch_ms);
  if (check_kind != CheckKind::kQuick) return std::numeric_limits<std::size_t>::max();
  const double launches = options_.flops_of_quick_check / quick_check_work(kernel, shape);
  return static_cast<std::size_t>(std::max(launches, 1.0));
}

CorrectnessResult CorrectnessGate::check_shape(const Job& job, const Shape& shape) {
  // Unless a SampledCheck may be enough, makes all cases before the kernel's workspace, so that the
  // kernel is at fault if the remaining memory is too small for its workspace.
  if (!can_be_sampled(shape) || work_of(shape) <= options_.flops_of_whole_grids) {
    const std::size_t seeds = seeds_for(shape, job.check_kind);
    cases_.require_room(shape, seeds);
    for (std::size_t index = 0; index < seeds; ++index) (void)cases_.get(shape, index);
    const auto blind = tolerances_.blind_spot(job.kernel, shape, has_drawn_inputs() ? seeds : 1);
    if (blind) return {{}, Rejection{Gate::kCorrectness, *blind}};
  }
  const CheckCase& data = cases_.inputs(shape, 0);
  const auto made = Workspace::make(device_, problem_, job.kernel, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return without_workspace(data, *fault);
  const auto& workspace = std::get<Workspace>(made);
  if (auto result = check_part(job, shape, workspace)) {
    result->complete = job.check_kind != CheckKind::kQuick ||
                       options_.flops_of_quick_check >= options_.flops_of_whole_grids;
    return *std::move(result);
  }
  return check_whole(job, shape, workspace);
}

/// Checks a part of the grid; returns nullopt if the whole grid has to run.
std::optional<CorrectnessResult> CorrectnessGate::check_part(const Job& job, const Shape& shape,
                                                             const Workspace& workspace) {
  if (!is_too_large(job.kernel, shape, job.check_kind)) return std::nullopt;
  // quick_check_work() may count the work of threads, so the limit of a quick check is converted to
  // the problem's floating-point operations, which limit the part.
  double flops = options_.flops_of_whole_grids;
  if (job.check_kind == CheckKind::kQuick) {
    const double share = work_of(shape) / quick_check_work(job.kernel, shape);
    flops = std::min(flops, options_.flops_of_quick_check * share);
  }
  if (can_be_sampled(shape)) {
    return SampledCheck(device_, problem_, cases_, tolerances_, flops)
        .check(job.kernel, shape, workspace, job.progress);
  }
  if (!ElementSample::is_possible(problem_, *job.kernel.spec)) return std::nullopt;
  job.progress("checking a part of shape " + shape.name);
  auto result = ElementSample(work_, problem_, cases_, flops).check(job.kernel, shape, workspace);
  if (result) return result;
  cases_.restore_inputs(cases_.inputs(shape, 0));
  workspace.clear();
  return std::nullopt;
}

/// If the device may start the kernel before earlier work has ended, launches the kernel once for
/// each input, while the input is still being written. `launch_ms`: the time of a launch.
void CorrectnessGate::check_early_start(Trials& trials, const LoadedKernel& kernel,
                                        const CheckCase& data, double launch_ms) const {
  const Measuring* measuring = device_.measuring();
  if (measuring == nullptr || !measuring->starts_early(kernel.id, kernel.launch_for(data))) return;
  for (std::size_t i = 0; i < data.inputs.size() && !trials.is_over(); ++i) {
    if (!data.inputs[i] || !buffer_of(data, data.arguments, i)) continue;
    trials.run_after_late_input(data, poison_of_run(i), i);
    settle_if_long(trials, launch_ms);
  }
}

CorrectnessResult CorrectnessGate::check_whole(const Job& job, const Shape& shape,
                                               const Workspace& workspace) {
  using Kind = Trials::Kind;
  const LoadedKernel& kernel = job.kernel;
  const std::string name = "shape " + shape.name;
  const CheckCase& first = cases_.get(shape, 0);
  const std::size_t seeds = seeds_for(shape, job.check_kind);
  Trials trials(work_, problem_, cases_, judge_, kernel, workspace, options_.now_ms);
  ShapeClock clock(job.stop, shape.name, measures());
  std::size_t runs =
      job.check_kind == CheckKind::kAfterQuick ? 1 : 0;  // the quick check used the first poison
  // 1. Launch once, to find most errors and to measure the time of a launch.
  job.progress("checking " + name + ", seed 1");
  const Trials::LaunchTime once = trials.run_timed(first, poison_of_run(runs++), Kind::kSeed);
  double launch_ms = once.host_ms;
  clock.add(once.device_us);
  if (job.has_run && clock.is_very_slow()) return clock.end(trials);
  const bool repeated = repeats(kernel, shape, job.check_kind, launch_ms);
  if (repeated) trials.keep_outputs(first);
  trials.settle();
  const auto state = seeds > 1 && !trials.is_over() ? state_of(kernel, workspace) : std::nullopt;
  bool complete = true;
  const auto is_allowed = [&] {
    complete = complete && runs < most_launches(kernel, shape, job.check_kind, launch_ms);
    return complete && !trials.is_over();
  };
  const auto run = [&](const CheckCase& data, Kind kind) {
    trials.run(data, poison_of_run(runs++), kind);
    settle_if_long(trials, launch_ms);
  };
  // 2. Repeat the launch on the same inputs.
  complete = repeated || !repeats(kernel, shape, CheckKind::kFull, launch_ms);
  if (repeated && !trials.is_over()) {
    job.progress("repeating " + name);
    const auto again = trials.run_timed(first, poison_of_run(runs++), Kind::kRepeat);
    // The first launch of a kernel may take longer than later ones.
    launch_ms = std::min(launch_ms, again.host_ms);
    clock.add(again.device_us);
    if (clock.is_slow()) {
      if (seeds > 1 && launch_ms <= kLongLaunchMs) run(cases_.get(shape, 1), Kind::kSeed);
      return clock.end(trials);
    }
  }
  // 3. If the kernel keeps state between launches, launch many times.
  if (state && !trials.is_over() && state_of(kernel, workspace) != state) {
    job.progress("launching the kernel many times on " + name);
    check_old(trials, kernel, {&first}, workspace, Kind::kRepeat, job.progress);
  }
  // 4. Launch on the inputs of the other seeds.
  for (std::size_t index = 1; index < seeds && is_allowed(); ++index) {
    job.progress("checking " + name + ", seed " + std::to_string(index + 1));
    run(cases_.get(shape, index), Kind::kSeed);
  }
  // 5. If the kernel's state has changed since the first launch, launch on all inputs in turn,
  //    because the kernel may count its inputs.
  trials.settle();
  if (state && !trials.is_over() && state_of(kernel, workspace) != state) {
    std::vector<const CheckCase*> inputs;
    for (std::size_t index = 0; index < seeds; ++index) inputs.push_back(&cases_.get(shape, index));
    check_old(trials, kernel, inputs, workspace, Kind::kExtra, job.progress);
  }
  // 6. On a GPU, if there are fewer seeds than poisons, launch over the remaining poisons, so that
  //    each shape is checked with all poisons.
  while (device_.interpreting() == nullptr && runs < kPoisons && is_allowed())
    run(first, Kind::kExtra);
  // 7. If the kernel may start before its inputs are written, launch it while an input is written.
  if (!trials.is_over()) check_early_start(trials, kernel, first, launch_ms);
  if (trials.unsettled() > 1) job.progress("checking " + name);
  CorrectnessResult result = clock.take(trials);
  result.complete = complete;
  return result;
}

}  // namespace evo
