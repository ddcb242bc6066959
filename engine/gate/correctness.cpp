#include "engine/gate/correctness.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/gate/damage.hpp"
#include "engine/gate/sampled_check.hpp"

namespace evo {
namespace {

bool is_output(const Argument& argument) {
  return argument.direction == Direction::kOut || argument.direction == Direction::kInOut;
}

std::string place(const CheckCase& data) {
  return "shape " + data.shape->name + ", seed " + std::to_string(data.seed) + ": ";
}

Rejection wrong(const CheckCase& data, const std::string& reason, std::string detail = {}) {
  return {Gate::kCorrectness, place(data) + reason, std::move(detail)};
}

void append(CorrectnessResult& total, CorrectnessResult part) {
  std::move(part.checks.begin(), part.checks.end(), std::back_inserter(total.checks));
  total.rejection = std::move(part.rejection);
  total.device_lost = part.device_lost;
}

}  // namespace

/// One launch and what it left behind.
struct CorrectnessGate::Ran {
  Outputs outputs;  ///< per argument; empty unless out or inout
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

void CorrectnessGate::sort_by_work(std::vector<const Shape*>& shapes) const {
  const auto work = [&](const Shape* shape) { return problem_.flops.evaluate(shape->variables); };
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const Shape* a, const Shape* b) { return work(a) < work(b); });
}

CorrectnessResult CorrectnessGate::check(const LoadedKernel& kernel,
                                         std::vector<const Shape*> shapes,
                                         const Progress& progress) {
  sort_by_work(shapes);
  CorrectnessResult total;
  for (const Shape* shape : shapes) {
    append(total, check_shape(kernel, *shape, progress));
    if (total.rejection) return total;
  }
  if (total.checks.empty()) {
    total.rejection = Rejection{Gate::kCorrectness, "no shape was checked"};
    return total;
  }
  cases_.require_meaningful();
  return total;
}

CorrectnessResult CorrectnessGate::check_aged(const LoadedKernel& kernel,
                                              std::vector<const Shape*> shapes, int launches,
                                              const Progress& progress) {
  sort_by_work(shapes);
  const Shape& shape = *shapes.front();
  const CheckCase& data = cases_.get(shape, 0);
  const auto made = Workspace::make(device_, problem_, kernel, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return {{}, wrong(data, fault->reason)};
  const auto& workspace = std::get<Workspace>(made);
  const bool keeps_something = !workspace.is_empty() || !device_.variables_hash(kernel.id);
  if (!keeps_something) return {};
  progress("launching shape " + shape.name + " often");
  if (const auto fault = age(kernel, data, workspace, launches, progress)) {
    return {{}, wrong(data, fault->reason, fault->detail), fault->device_lost};
  }
  return judged(kernel, data, run(kernel, data, workspace, Poison::kRandom));
}

std::size_t CorrectnessGate::seeds_for(const Shape& shape) const {
  return problem_.flops.evaluate(shape.variables) > options_.flops_for_all_seeds ? 1
                                                                                 : options_.seeds;
}

bool CorrectnessGate::is_sampled(const Shape& shape) const {
  return device_.sampler() != nullptr &&
         SampledCheck::is_possible(problem_, cases_.values_of(shape)) &&
         problem_.flops.evaluate(shape.variables) > options_.flops_of_whole_grids;
}

/// Fewer on shapes with much work: the smallest shapes see all of them.
int CorrectnessGate::launches_to_age(const Shape& shape) const {
  constexpr double kWork = 2147483648.0;  // 2^31 operations, some seconds on an interpreter
  constexpr double kFewest = 16;
  const double launches = kWork / problem_.flops.evaluate(shape.variables);
  return static_cast<int>(std::clamp(launches, kFewest, static_cast<double>(kAgedLaunches)));
}

CorrectnessResult CorrectnessGate::check_shape(const LoadedKernel& kernel, const Shape& shape,
                                               const Progress& progress) {
  // All cases before the workspace: what does not fit into the memory then is the workspace.
  const bool sampled = is_sampled(shape);
  for (std::size_t index = 0; index < seeds_for(shape) && !sampled; ++index) {
    (void)cases_.get(shape, index);
  }
  const CheckCase& data = cases_.inputs(shape, 0);
  const auto made = Workspace::make(device_, problem_, kernel, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return {{}, wrong(data, fault->reason)};
  const auto& workspace = std::get<Workspace>(made);
  if (sampled) {
    return SampledCheck(device_, problem_, cases_, options_.flops_of_whole_grids)
        .check(kernel, shape, workspace, progress);
  }
  return check_whole(kernel, shape, workspace, progress);
}

CorrectnessResult CorrectnessGate::check_whole(const LoadedKernel& kernel, const Shape& shape,
                                               const Workspace& workspace,
                                               const Progress& progress) {
  CorrectnessResult total;
  std::size_t runs = 0;
  const CheckCase& first = cases_.get(shape, 0);
  const std::size_t seeds = seeds_for(shape);
  for (std::size_t index = 0; index < seeds && !total.rejection; ++index) {
    const CheckCase& data = cases_.get(shape, index);
    progress("checking shape " + shape.name + ", seed " + std::to_string(index + 1));
    const Ran ran = run(kernel, data, workspace, poison_of_run(runs++));
    append(total, judged(kernel, data, ran));
    const auto state = index == 0 && seeds > 1 ? state_of(kernel, workspace) : std::nullopt;
    // A device that knows what was written needs no second poison.
    const std::size_t least_runs = device_.tracks_writes() ? 1 : 2;
    if (index > 0 || std::max(seeds, least_runs) == 1 || total.rejection) continue;
    progress("repeating shape " + shape.name);
    total.rejection = repeat(kernel, data, workspace, ran.outputs, poison_of_run(runs++));
    if (total.rejection || !state || state_of(kernel, workspace) == state) continue;
    progress("launching shape " + shape.name + " often");
    if (const auto fault = age(kernel, data, workspace, launches_to_age(shape), progress)) {
      total.rejection = wrong(data, fault->reason, fault->detail);
      total.device_lost = fault->device_lost;
      continue;
    }
    total.rejection = repeat(kernel, data, workspace, ran.outputs, Poison::kRandom);
    if (total.rejection) total.rejection->reason += " (after launching it often)";
  }
  // Few seeds: the poisons that are left, so that every shape meets all of them.
  while (!device_.tracks_writes() && !total.rejection && runs < kPoisons) {
    const Ran ran = run(kernel, first, workspace, poison_of_run(runs++));
    total.rejection = judged(kernel, first, ran).rejection;
    total.device_lost = ran.device_lost;
  }
  return total;
}

CorrectnessGate::Ran CorrectnessGate::run(const LoadedKernel& kernel, const CheckCase& data,
                                          const Workspace& workspace, Poison poison) {
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction == Direction::kOut) {
      device_.poison(std::get<BufferId>(arguments[i]),
                     poison_pattern(poison, argument.dtype, data.seed));
    }
    if (argument.direction == Direction::kInOut) {
      device_.upload(std::get<BufferId>(arguments[i]), data.inputs[i]);
    }
  }
  Ran ran;
  if (const auto fault = device_.launch(kernel.id, kernel.launch_for(data), arguments)) {
    ran.rejection = wrong(data, fault->reason, fault->detail);
    ran.device_lost = fault->device_lost;
    return ran;
  }
  if (const auto what = find_damage(device_, problem_, arguments, data)) {
    ran.rejection = wrong(data, *what);
    cases_.restore_inputs(data);
    return ran;
  }
  if (const auto what = unwritten(arguments)) {
    ran.rejection = wrong(data, *what);
    return ran;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ran.outputs.emplace_back();
    if (!is_output(problem_.arguments[i])) continue;
    ran.outputs.back().resize(problem_.arguments[i].bytes(data.values));
    device_.download(std::get<BufferId>(arguments[i]), ran.outputs.back());
  }
  return ran;
}

std::optional<std::string> CorrectnessGate::unwritten(
    const std::vector<KernelArgument>& arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction != Direction::kOut) continue;
    const auto byte = device_.first_unwritten(std::get<BufferId>(arguments[i]));
    if (!byte) continue;
    return argument.name + "[" + std::to_string(*byte / size_of(argument.dtype)) +
           "] was never written";
  }
  return std::nullopt;
}

CorrectnessResult CorrectnessGate::judged(const LoadedKernel& kernel, const CheckCase& data,
                                          const Ran& ran) {
  CorrectnessResult result;
  result.rejection = ran.rejection;
  result.device_lost = ran.device_lost;
  if (ran.rejection) return result;
  const OutputJudge::Verdict verdict = judge_.judge(kernel, data, ran.outputs);
  if (verdict.violation) result.rejection = wrong(data, *verdict.violation);
  result.checks.push_back(verdict.figures);
  return result;
}

std::optional<Rejection> CorrectnessGate::repeat(const LoadedKernel& kernel, const CheckCase& data,
                                                 const Workspace& workspace, const Outputs& first,
                                                 Poison poison) {
  const Ran again = run(kernel, data, workspace, poison);
  if (again.rejection) return again.rejection;
  if (!kernel.spec->deterministic) return judged(kernel, data, again).rejection;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (again.outputs[i] == first[i]) continue;
    const auto differs =
        std::mismatch(first[i].begin(), first[i].end(), again.outputs[i].begin()).first;
    const auto element =
        static_cast<std::size_t>(differs - first[i].begin()) / size_of(problem_.arguments[i].dtype);
    return wrong(data,
                 "a second run on the same input gave another result (a race, or an element "
                 "that is never written), first at " +
                     problem_.arguments[i].name + "[" + std::to_string(element) + "]");
  }
  return std::nullopt;
}

/// What the kernel keeps from launch to launch. Nothing when the device cannot tell, or measures:
/// there the launches that are timed do the ageing.
std::optional<std::string> CorrectnessGate::state_of(const LoadedKernel& kernel,
                                                     const Workspace& workspace) const {
  if (device_.info().time_kind == TimeKind::kMeasured) return std::nullopt;
  const std::optional<std::string> variables = device_.variables_hash(kernel.id);
  if (!variables) return std::nullopt;
  return *variables + workspace.content_hash();
}

/// Launches on one input. Ends early when what the kernel keeps repeats: whatever comes then was
/// seen before.
std::optional<Fault> CorrectnessGate::age(const LoadedKernel& kernel, const CheckCase& data,
                                          const Workspace& workspace, int launches,
                                          const Progress& progress) {
  constexpr int kLaunchesLookedAt = 16;
  constexpr int kTellEvery = 100;
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  const LaunchConfig config = kernel.launch_for(data);
  GridSampler* sampler = device_.sampler();
  std::set<std::string> seen;
  std::optional<Fault> fault;
  if (sampler != nullptr) sampler->set_checks(false);
  for (int i = 0; i < launches && !fault; ++i) {
    if (i % kTellEvery == 0) progress("launching shape " + data.shape->name + " often");
    fault = device_.launch(kernel.id, config, arguments);
    if (fault || i >= kLaunchesLookedAt) continue;
    const auto state = state_of(kernel, workspace);
    if (state && !seen.insert(*state).second) break;
  }
  if (sampler != nullptr) sampler->set_checks(true);
  return fault;
}

}  // namespace evo
