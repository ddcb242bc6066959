// Methods of CorrectnessGate that launch a kernel many times if it keeps state.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/gate/correctness/correctness.hpp"

namespace evo {
namespace {

/// Whether the last of many launches took so much longer than the first that changes of clocks and
/// temperature do not explain the difference.
bool has_become_slow(double first_us, double last_us) {
  constexpr double kMostRatio = 2;
  constexpr double kLeastDifferenceUs = 5;
  return last_us > kMostRatio * first_us + kLeastDifferenceUs;
}

}  // namespace

/// The result for a kernel whose workspace does not fit into the device's memory, which is a
/// rejection.
CorrectnessResult CorrectnessGate::without_workspace(const CheckCase& data, const Fault& fault) {
  CorrectnessResult result;
  result.reject("shape " + data.shape->name + ", seed " + std::to_string(data.seed) + ": ",
                {.reason = fault.reason, .kind = FaultKind::kRefused});
  return result;
}

CorrectnessResult CorrectnessGate::check_aged(const LoadedKernel& kernel,
                                              std::vector<const Shape*> shapes, int launches,
                                              double most_ms, const Progress& progress) {
  sort_by_work(shapes);
  const Shape& shape = *shapes.front();
  const CheckCase& data = cases_.get(shape, 0);
  const auto made = Workspace::make(device_, problem_, kernel, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return without_workspace(data, *fault);
  const auto& workspace = std::get<Workspace>(made);
  const bool keeps_something = !workspace.is_empty() || !device_.variables_hash(kernel.id);
  if (!keeps_something) return {};
  progress("launching the kernel many times on shape " + shape.name);
  Trials trials(work_, problem_, cases_, judge_, kernel, workspace, options_.now_ms);
  const Aged aged = age_by_graphs(kernel, data, workspace, launches, most_ms);
  if (aged.fault) trials.reject(data, *aged.fault);
  trials.run(data, Poison::kRandom, Trials::Kind::kExtra);
  CorrectnessResult result = trials.take();
  result.complete = aged.launches >= launches;
  if (!result.rejection && has_become_slow(aged.first_us, aged.last_us)) {
    result.rejection = Rejection{
        Gate::kTiming,
        fmt::format("shape {}: after many launches, a launch takes {:.1f} µs instead of {:.1f} µs",
                    shape.name, aged.last_us, aged.first_us)};
  }
  return result;
}

/// Number of launches before a kernel is checked again on a virtual GPU: kAgedLaunches or, on
/// shapes with much work, fewer, but at least 16.
int CorrectnessGate::launches_to_age(const Shape& shape) const {
  // 2^31 floating-point operations, which take some seconds on a virtual GPU
  constexpr double kWork = 2147483648.0;
  constexpr double kFewest = 16;
  const double launches = kWork / work_of(shape);
  return static_cast<int>(std::clamp(launches, kFewest, static_cast<double>(kAgedLaunches)));
}

/// Launches the kernel many times on all inputs in turn, then once with a check on each input.
void CorrectnessGate::check_old(Trials& trials, const LoadedKernel& kernel,
                                const std::vector<const CheckCase*>& inputs,
                                const Workspace& workspace, Trials::Kind kind,
                                const Progress& progress) {
  const CheckCase& first = *inputs.front();
  const int launches = launches_to_age(*first.shape);
  if (const auto fault = age(kernel, inputs, workspace, launches, progress)) {
    trials.reject(first, *fault);
  }
  for (const CheckCase* data : inputs) trials.run(*data, Poison::kRandom, kind);
  trials.settle();
  trials.say_more(" (after many launches)");
}

/// A hash of the state that the kernel keeps between launches; nullopt if the device cannot read
/// this state. On a GPU, the hash is always nullopt, because the verification of timed launches
/// finds errors caused by kept state.
std::optional<std::string> CorrectnessGate::state_of(const LoadedKernel& kernel,
                                                     const Workspace& workspace) const {
  if (measures()) return std::nullopt;
  const std::optional<std::string> variables = device_.variables_hash(kernel.id);
  if (!variables) return std::nullopt;
  return *variables + workspace.content_hash();
}

/// Launches the kernel on all inputs in turn. Ends early if the kernel's state after the last input
/// equals an earlier state after the last input, because all further launches would repeat earlier
/// ones.
std::optional<Fault> CorrectnessGate::age(const LoadedKernel& kernel,
                                          const std::vector<const CheckCase*>& inputs,
                                          const Workspace& workspace, int launches,
                                          const Progress& progress) {
  constexpr int kLaunchesLookedAt = 16;  // launches per input whose state is compared
  constexpr int kTellEvery = 100;
  constexpr double kMostTogetherMs = 50;
  const CheckCase& first = *inputs.front();
  std::vector<std::vector<KernelArgument>> arguments;
  for (const CheckCase* data : inputs) arguments.push_back(workspace.arguments_of(*data));
  const LaunchPlan plan = kernel.launch_for(first);
  const auto rounds = static_cast<int>(inputs.size());
  Interpreting* sampler = device_.interpreting();
  std::set<std::string> seen;
  std::optional<Fault> fault;
  bool is_old = false;
  if (sampler != nullptr) sampler->set_checks(false);
  int together = 1;  // number of launches that are waited for together
  for (int i = 0; i < launches && !fault && !is_old;) {
    progress("launching the kernel many times on shape " + first.shape->name);
    const double before = options_.now_ms();
    for (const int end = std::min(launches, i + together); i < end && !fault && !is_old; ++i) {
      const auto turn = static_cast<std::size_t>(i % rounds);
      if (rounds > 1) cases_.restore_inouts(*inputs[turn]);
      fault = work_.launch(kernel.id, plan, arguments[turn]);
      if (fault || i >= kLaunchesLookedAt * rounds || (i + 1) % rounds != 0) continue;
      const auto state = state_of(kernel, workspace);
      is_old = state && !seen.insert(*state).second;
    }
    if (!fault) fault = work_.finish();
    if (options_.now_ms() - before < kMostTogetherMs) together = std::min(2 * together, kTellEvery);
  }
  if (sampler != nullptr) sampler->set_checks(true);
  return fault;
}

/// Launches a kernel `launches` times on a GPU, or until `most_ms` have passed. Uses graphs of many
/// launches, because one graph costs the host less time than many single launches.
CorrectnessGate::Aged CorrectnessGate::age_by_graphs(const LoadedKernel& kernel,
                                                     const CheckCase& data,
                                                     const Workspace& workspace, int launches,
                                                     double most_ms) {
  constexpr int kMostTogether = 100;
  const LaunchPlan config = kernel.launch_for(data);
  Measuring& measuring = evo::measuring(device_);
  Aged aged;
  const double start = options_.now_ms();
  for (int together = 1; aged.launches < launches && !aged.fault;) {
    const double graph_start = options_.now_ms();
    const int count = std::min(together, launches - aged.launches);
    const std::vector<std::vector<KernelArgument>> arguments(static_cast<std::size_t>(count),
                                                             workspace.arguments_of(data));
    const auto graph = measuring.make_graph(kernel.id, config, arguments, count);
    if (const auto* fault = std::get_if<Fault>(&graph)) return {aged.launches, *fault};
    // A graph of kMostTogether launches is repeated while launches and time remain; a smaller graph
    // runs once.
    do {
      const auto ran = measuring.run_graph(std::get<GraphId>(graph));
      if (const auto* fault = std::get_if<Fault>(&ran)) aged.fault = *fault;
      aged.launches += count;
      if (aged.fault || count < kMostTogether) continue;
      aged.last_us = std::get<double>(ran) / count;
      if (aged.first_us == 0) aged.first_us = aged.last_us;
    } while (!aged.fault && count == kMostTogether && aged.launches + count <= launches &&
             options_.now_ms() - start < most_ms);
    if (!aged.fault || !aged.fault->device_lost) measuring.release_graph(std::get<GraphId>(graph));
    if (options_.now_ms() - start >= most_ms) break;
    // The next graph has as many launches as fit into the remaining time, at most kMostTogether and
    // ten times the limit for this graph.
    const double launch_ms = (options_.now_ms() - graph_start) / count;
    const double left_ms = most_ms - (options_.now_ms() - start);
    const auto fitting = static_cast<int>(std::min(left_ms / std::max(launch_ms, 1e-6), 1e6));
    together = std::clamp(fitting, 1, std::min(10 * together, kMostTogether));
  }
  return aged;
}

}  // namespace evo
