#include "engine/gate/stopwatch.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/gate/damage.hpp"
#include "engine/gate/poison.hpp"

namespace evo {
namespace {

/// Outputs of one kernel that are all compared each time; some milliseconds.
constexpr std::size_t kBytesToCompare = std::size_t{8} << 20;

/// One launch before those that count is enough of such.
constexpr double kVeryLongLaunchUs = 10'000;

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
      kernel_(kernel),
      shape_(shape),
      budget_(wanted_of(setup.options), 0, setup.options.sample_us) {
  const CheckCase& first = setup_.cases.get(shape, 0);
  config_ = kernel.launch_for(first);
  for (std::size_t i = 0; i < setup_.options.input_sets; ++i) {
    inputs_.push_back(&setup_.cases.get(shape, i));
  }
  auto made = Workspace::make(device_, setup_.problem, kernel, first);
  if (auto* fault = std::get_if<Fault>(&made)) {
    fault_ = *fault;
    return;
  }
  workspace_.emplace(std::get<Workspace>(std::move(made)));
  if (!make_output_sets() || !build(1, 1)) return;
  const double launch_us = estimate_launch_us();
  if (!fault_) plan(launch_us);
}

/// The fastest of three; one is enough where it is long.
double Stopwatch::estimate_launch_us() {
  double launch_us = sample();
  for (int i = 0; i < 2 && !fault_ && launch_us < kVeryLongLaunchUs; ++i) {
    launch_us = std::min(launch_us, sample());
  }
  return launch_us;
}

/// Makes the graphs that are timed.
void Stopwatch::plan(double launch_us) {
  std::size_t launches = 1;
  std::size_t graphs = period();
  if (!setup_.options.cold) {
    constexpr double kMostLaunches = 400;
    launches = static_cast<std::size_t>(std::clamp(
        std::ceil(setup_.options.sample_us / std::max(launch_us, 0.1)), 1.0, kMostLaunches));
    // Whole periods; or a part of one that divides it, so that graphs continue each other.
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
    for (const BufferId buffer : own_buffers_) device_.release(buffer);
  } catch (const std::exception& error) {
    spdlog::debug("a stopwatch was not released: {}", error.what());
  }
}

/// One set of outputs more than there are inputs; of its own, so that another kernel's results,
/// which may be right, never lie in them.
bool Stopwatch::make_output_sets() {
  for (std::size_t set = 0; set <= inputs_.size(); ++set) {
    std::vector<KernelArgument> arguments =
        workspace_->arguments_of(*inputs_[set % inputs_.size()]);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = setup_.problem.arguments[i];
      has_inout_ = has_inout_ || argument.direction == Direction::kInOut;
      if (argument.direction != Direction::kOut) continue;
      try {
        own_buffers_.push_back(
            device_.allocate({argument.name, argument.bytes(inputs_.front()->values), true}));
      } catch (const DeviceMemoryError& error) {
        fault_ = Fault{std::string("no memory beside its workspace for timing: ") + error.what()};
        return false;
      }
      arguments[i] = own_buffers_.back();
      output_bytes_ += argument.bytes(inputs_.front()->values);
      // The memory may hold what another kernel left in it, which may be right.
      device_.poison(own_buffers_.back(), poison_pattern(Poison::kNan, argument.dtype, 0));
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
        device_.make_graph(kernel_.id, config_, sets, static_cast<int>(launches_per_graph));
    if (const auto* fault = std::get_if<Fault>(&made)) {
      fault_ = *fault;
      return false;
    }
    graphs_.push_back(std::get<GraphId>(made));
  }
  return true;
}

void Stopwatch::release_graphs() {
  for (const GraphId graph : graphs_) device_.release_graph(graph);
  graphs_.clear();
  next_graph_ = 0;
}

void Stopwatch::note_launches(std::size_t first, std::size_t count) {
  launched_ += static_cast<std::int64_t>(count);
  // Only the last launch on each output set counts.
  const std::size_t skipped = count - std::min(count, period());
  for (std::size_t launch = first + skipped; launch < first + count; ++launch) {
    content_[launch % outputs_.size()] = inputs_[launch % inputs_.size()];
  }
}

/// Microseconds of the next graph.
double Stopwatch::run_next() {
  if (fault_) return 0;
  const auto ran = device_.run_graph(graphs_[next_graph_]);
  if (const auto* fault = std::get_if<Fault>(&ran)) {
    fault_ = *fault;
    return 0;
  }
  note_launches(next_graph_ * launches_per_graph_, launches_per_graph_);
  next_graph_ = (next_graph_ + 1) % graphs_.size();
  return std::get<double>(ran);
}

double Stopwatch::sample() {
  if (fault_) return 0;
  if (setup_.options.cold) device_.flush_l2();
  return run_next() / static_cast<double>(launches_per_graph_);
}

/// As sample(), of a launch whose result is looked at.
void Stopwatch::run_to_verify() {
  const double us = run_next() / static_cast<double>(launches_per_graph_);
  if (!fault_ && is_long()) verified_us_.push_back(us);
}

std::vector<double> Stopwatch::take_verified_us() { return std::exchange(verified_us_, {}); }

void Stopwatch::warm_up() {
  if (launch_us_ >= kVeryLongLaunchUs) return;  // the launch that was timed first is enough
  for (int done = 0; done < budget_.warmups() && !fault_;) {
    sample();
    done += static_cast<int>(launches_per_graph_);
  }
}

Rejection Stopwatch::wrong(const CheckCase& data, const std::string& reason) const {
  return {Gate::kCorrectness, "timed launches, shape " + shape_.name + ", seed " +
                                  std::to_string(data.seed) + ": " + reason};
}

std::optional<Rejection> Stopwatch::compare(const std::vector<Launched>& launches) {
  setup_.work.begin();
  std::vector<OutputJudge::Looks> looks;
  looks.reserve(launches.size());
  for (const Launched& launch : launches) {
    looks.push_back(setup_.judge.look(kernel_, *launch.data, *launch.arguments));
  }
  fault_ = setup_.work.finish();
  if (fault_) return std::nullopt;
  for (const OutputJudge::Looks& outputs : looks) {
    const OutputJudge::Verdict verdict = setup_.judge.judge(outputs);
    if (verdict.violation) return wrong(*outputs.data, *verdict.violation);
  }
  return std::nullopt;
}

/// The inputs of `where` hold those of another case.
void Stopwatch::put_inputs(const CheckCase& where, const CheckCase& content) {
  for (std::size_t i = 0; i < content.inputs.size(); ++i) {
    if (!content.inputs[i]) continue;
    setup_.work.put_back(std::get<BufferId>(where.arguments[i]), *content.inputs[i]);
  }
}

void Stopwatch::poison_outputs(Random& random) {
  for (const auto& arguments : outputs_) {
    const Poison poison = poison_of_run(random.below(kPoisons));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = setup_.problem.arguments[i];
      if (argument.direction != Direction::kOut) continue;
      device_.poison(std::get<BufferId>(arguments[i]),
                     poison_pattern(poison, argument.dtype, random.bits()));
    }
  }
}

std::optional<Rejection> Stopwatch::verify(Doubt doubt, Random& random) {
  if (fault_) return std::nullopt;
  if (has_inout_) return verify_inout(random);
  if (doubt == Doubt::kFreshInputs) return verify_fresh_inputs(random);
  if (doubt == Doubt::kFreshAddresses) return verify_fresh_addresses(random);
  if (doubt == Doubt::kPoison) {
    poison_outputs(random);
    // What is poisoned now must be written before it is looked at.
    std::ranges::fill(content_, nullptr);
  }
  const auto has_content = [&] {
    return std::ranges::any_of(content_, [](const auto* data) { return data != nullptr; });
  };
  // What long launches left is looked at as it is, where there is something.
  if (!is_long() || !has_content()) run_to_verify();
  while (!fault_ && !has_content()) run_to_verify();
  if (fault_) return std::nullopt;
  // All sets, unless there is much to look at: then one that is drawn.
  std::size_t set = random.below(outputs_.size());
  while (content_[set] == nullptr) set = (set + 1) % outputs_.size();
  std::vector<Launched> launches;
  if (output_bytes_ > kBytesToCompare) {
    launches.push_back({&outputs_[set], content_[set]});
  } else {
    for (set = 0; set < outputs_.size(); ++set) {
      if (content_[set] != nullptr) launches.push_back({&outputs_[set], content_[set]});
    }
  }
  return compare(launches);
}

std::optional<Rejection> Stopwatch::verify_fresh_inputs(Random& random) {
  const CheckCase& fresh = setup_.cases.get(shape_, setup_.fresh_case);
  const std::size_t chosen = random.below(inputs_.size());
  const CheckCase& usual = *inputs_[chosen];
  put_inputs(usual, fresh);
  std::ranges::fill(content_, nullptr);
  std::optional<std::size_t> set;
  while (!fault_ && !set) {
    run_to_verify();
    for (std::size_t i = 0; i < content_.size(); ++i) {
      if (content_[i] == &usual) set = i;
    }
  }
  std::optional<Rejection> rejection;
  if (!fault_) rejection = compare({{&outputs_[*set], &fresh}});
  if (!fault_ || !fault_->device_lost) {
    setup_.cases.restore_inputs(usual);
    // Outputs that were computed from the fresh data are expected of nobody.
    std::ranges::replace(content_, &usual, nullptr);
  }
  return rejection;
}

std::optional<Rejection> Stopwatch::verify_fresh_addresses(Random& random) {
  const CheckCase& data = *inputs_[random.below(inputs_.size())];
  std::vector<KernelArgument> arguments = workspace_->arguments_of(data);
  std::vector<BufferId> buffers;
  std::optional<Rejection> rejection;
  try {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = setup_.problem.arguments[i];
      if (argument.direction != Direction::kIn && argument.direction != Direction::kOut) continue;
      const bool is_input = argument.direction == Direction::kIn;
      buffers.push_back(device_.allocate({argument.name, argument.bytes(data.values), !is_input}));
      arguments[i] = buffers.back();
      if (is_input) {
        setup_.work.put_back(buffers.back(), *data.inputs[i]);
      } else {
        device_.poison(buffers.back(),
                       poison_pattern(Poison::kRandom, argument.dtype, random.bits()));
      }
    }
    fault_ = device_.launch(kernel_.id, config_, arguments);
    ++launched_;
    if (!fault_) rejection = compare({{&arguments, &data}});
  } catch (const DeviceMemoryError& error) {
    spdlog::debug("not timed at fresh addresses: {}", error.what());
  }
  if (fault_ && fault_->device_lost) return rejection;
  for (const BufferId buffer : buffers) device_.release(buffer);
  return rejection;
}

/// Repeated launches change an inout argument again and again: one launch on fresh data instead.
std::optional<Rejection> Stopwatch::verify_inout(Random& random) {
  const std::size_t chosen = random.below(inputs_.size());
  const CheckCase& usual = *inputs_[chosen];
  const CheckCase& fresh = setup_.cases.get(shape_, setup_.fresh_case);
  put_inputs(usual, fresh);
  poison_outputs(random);
  const std::vector<KernelArgument>& arguments = outputs_[chosen];
  fault_ = device_.launch(kernel_.id, config_, arguments);
  ++launched_;
  std::optional<Rejection> rejection;
  if (!fault_) rejection = compare({{&arguments, &fresh}});
  if (!fault_ || !fault_->device_lost) setup_.cases.restore_inputs(usual);
  return rejection;
}

std::optional<GraphId> Stopwatch::single_launch(std::size_t launch) {
  const std::vector<std::vector<KernelArgument>> sets = {arguments_of(launch)};
  const auto made = device_.make_graph(kernel_.id, config_, sets, 1);
  if (const auto* fault = std::get_if<Fault>(&made)) {
    fault_ = *fault;
    return std::nullopt;
  }
  return std::get<GraphId>(made);
}

double Stopwatch::run_single(GraphId graph) {
  if (fault_) return 0;
  ++launched_;
  const auto ran = device_.run_graph(graph);
  if (const auto* fault = std::get_if<Fault>(&ran)) fault_ = *fault;
  return fault_ ? 0 : std::get<double>(ran);
}

std::optional<Rejection> Stopwatch::verify_pace() {
  // Twice so much, and more than a clock's whim, each time.
  constexpr std::size_t kRounds = 2;
  constexpr double kMostRatio = 1.5;
  constexpr double kLeastDifferenceUs = 2;
  if (fault_ || has_inout_ || inputs_.size() < 2) return std::nullopt;
  const auto looked_at = single_launch(0);
  const auto between = single_launch(1);
  if (!looked_at || !between) return std::nullopt;
  const CheckCase& usual = *inputs_.front();
  std::size_t slower = 0;
  double ratio = 0;
  try {
    for (std::size_t round = 0; round < kRounds && !fault_; ++round) {
      const CheckCase& fresh = setup_.cases.inputs(shape_, setup_.fresh_case + 1 + round);
      put_inputs(usual, fresh);
      // Another input before each of the two, so that the caches hold the same.
      if (!is_long()) (void)run_single(*between);
      const double fresh_us = run_single(*looked_at);
      if (!is_long()) (void)run_single(*between);
      const double met_us = run_single(*looked_at);
      if (fault_ || fresh_us < kMostRatio * met_us || fresh_us - met_us < kLeastDifferenceUs) break;
      ++slower;
      ratio = fresh_us / met_us;
    }
  } catch (const DeviceMemoryError& error) {
    spdlog::debug("pace on fresh data not looked at: {}", error.what());
  }
  if (fault_ && fault_->device_lost) return std::nullopt;
  for (const GraphId graph : {*looked_at, *between}) device_.release_graph(graph);
  setup_.cases.restore_inputs(usual);
  std::ranges::fill(content_, nullptr);
  if (fault_ || slower < kRounds) return std::nullopt;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", ratio);
  return Rejection{Gate::kTiming, std::string("a launch on data that it has not met takes ") +
                                      text +
                                      " times as long as the next one on the same data: it "
                                      "remembers results"};
}

std::optional<Rejection> Stopwatch::find_damage(Random& random) {
  if (fault_) return std::nullopt;
  setup_.work.begin();
  std::vector<Look> guards;
  for (const auto& arguments : outputs_) {
    for (const KernelArgument& argument : arguments) {
      const auto* buffer = std::get_if<BufferId>(&argument);
      if (buffer != nullptr) guards.push_back(setup_.work.guard_zones(*buffer));
    }
  }
  const std::size_t chosen = random.below(inputs_.size());
  const CheckCase& data = *inputs_[chosen];
  const DamageLook look(setup_.work, setup_.problem, outputs_[chosen], data);
  fault_ = setup_.work.finish();
  if (fault_) return std::nullopt;
  for (const Look guard : guards) {
    const auto what = setup_.work.guard_damage(guard);
    if (!what) continue;
    for (const auto& arguments : outputs_) repair_guard_zones(device_, arguments);
    return wrong(*inputs_.front(), *what);
  }
  const auto what = look.found();
  if (!what) return std::nullopt;
  setup_.cases.restore_inputs(data);
  return wrong(data, *what);
}

}  // namespace evo
