#include "engine/gate/timing/stopwatch.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/gate/correctness/poison.hpp"

namespace evo {
namespace {

TimeBudget::Wanted wanted_of(const TimingOptions& options) {
  return {.warmups = options.warmups,
          .least_samples = options.stopping.least_samples,
          .most_samples = options.stopping.most_samples,
          .sample_us = options.sample_us};
}

}  // namespace

Stopwatch::Stopwatch(const Setup& setup, const LoadedKernel& kernel, const Shape& shape)
    : setup_(setup),
      device_(setup.work.device()),
      memory_(device_.memory()),
      measuring_(measuring(device_)),
      kernel_(kernel),
      shape_(shape),
      budget_(wanted_of(setup.options), 0, setup.options.sample_us) {
  const CheckCase& first = setup_.cases.get(shape, 0);
  plan_ = kernel.launch_for(first);
  for (std::size_t i = 0; i < setup_.options.input_sets; ++i) {
    inputs_.push_back(&setup_.cases.get(shape, i));
  }
  auto made = Workspace::make(device_, setup_.problem, kernel, first);
  if (auto* fault = std::get_if<Fault>(&made)) {
    fault_ = *fault;
    return;
  }
  workspace_.emplace(std::get<Workspace>(std::move(made)));
  if (!make_output_sets()) return;
  const bool is_planned = was_planned_by_check();
  if (!is_planned && !build(1, 1)) return;
  if (is_planned) other_us_.push_back(setup_.options.checked_us);  // counts as a sample
  const double launch_us = is_planned ? setup_.options.checked_us : estimate_launch_us();
  if (!fault_) plan(launch_us);
}

/// Estimates the time of a launch in µs: the fastest of three launches, of two long launches, or
/// the time of one very long launch.
double Stopwatch::estimate_launch_us() {
  double launch_us = sample();
  if (launch_us >= kVeryLongLaunchUs) other_us_.push_back(launch_us);  // counts as a sample
  if (!fault_ && launch_us < kVeryLongLaunchUs) launch_us = std::min(launch_us, sample());
  if (!fault_ && launch_us < kLongLaunchUs) launch_us = std::min(launch_us, sample());
  return launch_us;
}

/// Makes the graphs that are timed, for a kernel whose launch takes `launch_us`.
void Stopwatch::plan(double launch_us) {
  std::size_t launches = 1;
  std::size_t graphs = period();
  if (!setup_.options.cold) {
    constexpr double kMostLaunches = 400;
    launches = static_cast<std::size_t>(std::clamp(
        std::ceil(setup_.options.sample_us / std::max(launch_us, 0.1)), 1.0, kMostLaunches));
    // In a period, each input set is used once with each output set. A graph has one or more whole
    // periods, or the launches of several successive graphs form one period.
    if (launches >= period()) {
      launches = launches / period() * period();
    } else {
      while (period() % launches != 0) ++launches;
    }
    graphs = std::max<std::size_t>(period() / launches, 1);
  }
  launch_us_ = launch_us;
  sample_us_ = launch_us * static_cast<double>(launches);
  budget_ = TimeBudget(wanted_of(setup_.options), launch_us, sample_us_);
  (void)build(launches, graphs);
}

Stopwatch::~Stopwatch() {
  if (fault_ && fault_->device_lost) return;
  try {
    release_graphs();
    for (const GraphId graph : single_graphs_) measuring_.release_graph(graph);
    for (const BufferId buffer : own_buffers_) memory_.release(buffer);
  } catch (const std::exception& error) {
    spdlog::debug("the graphs and buffers of timed launches were not released: {}", error.what());
  }
}

/// Allocates one output set more than there are input sets. No other kernel writes to the output
/// sets of a kernel, because the other kernel's results could be mistaken for results of this
/// kernel.
bool Stopwatch::make_output_sets() {
  for (std::size_t set = 0; set <= inputs_.size(); ++set) {
    std::vector<KernelArgument> arguments =
        workspace_->arguments_of(*inputs_[set % inputs_.size()]);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = setup_.problem.arguments[i];
      has_inout_ = has_inout_ || argument.direction == Direction::kInOut;
      if (argument.direction != Direction::kOut) continue;
      const std::size_t bytes = memory_.spec(std::get<BufferId>(arguments[i])).bytes;
      try {
        own_buffers_.push_back(memory_.allocate({argument.name, bytes, true}));
      } catch (const DeviceMemoryError& error) {
        fault_ = Fault{
            std::string("the memory left by the kernel's workspace is too small for timing: ") +
            error.what()};
        return false;
      }
      arguments[i] = own_buffers_.back();
      output_bytes_ += bytes;
      // Poisons the new output set, because its memory may hold the results of another kernel.
      memory_.poison(own_buffers_.back(), poison_pattern(Poison::kNan, argument.dtype, 0));
    }
    outputs_.push_back(std::move(arguments));
  }
  content_.resize(outputs_.size(), nullptr);
  return true;
}

std::vector<KernelArgument> Stopwatch::arguments_of(std::size_t launch) const {
  std::vector<KernelArgument> arguments = outputs_[launch % inputs_.size()];
  const std::vector<KernelArgument>& outputs = outputs_[launch % outputs_.size()];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (setup_.problem.arguments[i].direction == Direction::kOut) arguments[i] = outputs[i];
  }
  return arguments;
}

bool Stopwatch::build(std::size_t launches_per_graph, std::size_t graphs) {
  release_graphs();
  launches_per_graph_ = launches_per_graph;
  for (std::size_t graph = 0; graph < graphs; ++graph) {
    std::vector<std::vector<KernelArgument>> sets;
    for (std::size_t i = 0; i < std::min(launches_per_graph, period()); ++i) {
      sets.push_back(arguments_of(graph * launches_per_graph + i));
    }
    const auto made =
        measuring_.make_graph(kernel_.id, plan_, sets, static_cast<int>(launches_per_graph));
    if (const auto* fault = std::get_if<Fault>(&made)) {
      fault_ = *fault;
      return false;
    }
    graphs_.push_back(std::get<GraphId>(made));
  }
  return true;
}

void Stopwatch::release_graphs() {
  for (const GraphId graph : graphs_) measuring_.release_graph(graph);
  graphs_.clear();
  next_graph_ = 0;
}

void Stopwatch::note_launches(std::size_t first, std::size_t count) {
  launched_ += static_cast<std::int64_t>(count);
  // Only the last launch on each output set leaves results in it.
  const std::size_t skipped = count - std::min(count, period());
  for (std::size_t launch = first + skipped; launch < first + count; ++launch) {
    content_[launch % outputs_.size()] = inputs_[launch % inputs_.size()];
  }
}

/// Runs the next graph and returns its time in µs.
double Stopwatch::run_next() {
  if (fault_) return 0;
  const auto ran = measuring_.run_graph(graphs_[next_graph_]);
  if (const auto* fault = std::get_if<Fault>(&ran)) {
    fault_ = *fault;
    return 0;
  }
  note_launches(next_graph_ * launches_per_graph_, launches_per_graph_);
  next_graph_ = (next_graph_ + 1) % graphs_.size();
  const double us = std::get<double>(ran);
  fastest_us_ = std::min(fastest_us_, us / static_cast<double>(launches_per_graph_));
  return us;
}

double Stopwatch::sample() {
  if (fault_) return 0;
  if (setup_.options.cold) measuring_.flush_l2();
  return run_next() / static_cast<double>(launches_per_graph_);
}

/// Runs the next graph so that verify() can check its results. A long launch counts as a sample.
void Stopwatch::run_to_verify() {
  const double us = run_next() / static_cast<double>(launches_per_graph_);
  if (!fault_ && is_long()) other_us_.push_back(us);
}

std::vector<double> Stopwatch::take_other_us() { return std::exchange(other_us_, {}); }

void Stopwatch::warm_up() {
  if (launch_us_ >= kVeryLongLaunchUs) return;  // the measured launch has warmed the kernel up
  // The launches that estimated the time of a long launch count as a part of the warm-up.
  const std::int64_t before = is_long() ? 0 : launched_;
  while (launched_ - before < budget_.warmups() && !fault_) sample();
}

std::size_t samples_between_signs(double sample_us) {
  constexpr double kSignUs = 500'000;
  constexpr double kMost = 50;
  return static_cast<std::size_t>(std::clamp(kSignUs / std::max(sample_us, 1.0), 1.0, kMost));
}

Rejection fault_in_timing(const Fault& fault) {
  return {Gate::kTiming, fault.reason, fault.detail};
}

}  // namespace evo
