// Methods of Stopwatch that verify the timed launches.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <deque>

#include "engine/core/error.hpp"
#include "engine/gate/correctness/forbidden_writes.hpp"
#include "engine/gate/correctness/poison.hpp"
#include "engine/gate/timing/stopwatch.hpp"

namespace evo {
namespace {

/// If the output sets have more than this number of bytes in total, only one set is compared,
/// because comparing this number of bytes takes some ms.
constexpr std::size_t kBytesToCompare = std::size_t{8} << 20;

}  // namespace

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

/// Copies the inputs of the check case `content` to the buffers of the check case `where`, except
/// textures, which all timed check cases share.
void Stopwatch::put_inputs(const CheckCase& where, const CheckCase& content) {
  for (std::size_t i = 0; i < content.inputs.size(); ++i) {
    if (!content.inputs[i] || setup_.problem.arguments[i].texture) continue;
    setup_.work.kept().put_back(std::get<BufferId>(where.arguments[i]), *content.inputs[i]);
  }
}

void Stopwatch::poison_outputs(Random& random) {
  for (const auto& arguments : outputs_) {
    const Poison poison = poison_of_run(random.below(kPoisons));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = setup_.problem.arguments[i];
      if (argument.direction != Direction::kOut) continue;
      memory_.poison(std::get<BufferId>(arguments[i]),
                     poison_pattern(poison, argument.dtype, random.bits()));
    }
  }
}

bool Stopwatch::has_results() const {
  return std::ranges::any_of(content_, [](const auto* data) { return data != nullptr; });
}

std::optional<Rejection> Stopwatch::verify(Doubt doubt, Random& random) {
  if (fault_) return std::nullopt;
  if (has_inout_) return verify_inout(random);
  if (doubt == Doubt::kFreshInputs) return verify_fresh_inputs(random);
  if (doubt == Doubt::kFreshAddresses) return verify_fresh_addresses(random);
  if (doubt == Doubt::kPoison) {
    poison_outputs(random);
    // Poisoned outputs must not be compared before a launch has written them.
    std::ranges::fill(content_, nullptr);
  }
  // If launches are long, checks the results of earlier launches instead of launching again.
  if (!is_long() || !has_results()) run_to_verify();
  while (!fault_ && !has_results()) run_to_verify();
  if (fault_) return std::nullopt;
  // Checks all sets of output buffers or, if the outputs are large, a random set.
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
  // If launches are long, replaces the inputs of the next graph, so that no other graph runs first.
  const std::size_t chosen =
      is_long() ? next_graph_ % inputs_.size() : random.below(inputs_.size());
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
  if (!fault_ && !other_us_.empty()) fresh_us_ = other_us_.back();
  std::optional<Rejection> rejection;
  if (!fault_) rejection = compare({{&outputs_[*set], &fresh}});
  if (!fault_ || !fault_->device_lost) {
    setup_.cases.restore_inputs(usual);
    // Outputs of inputs from `fresh` must not be compared with the expected outputs of `usual`.
    std::ranges::replace(content_, &usual, nullptr);
  }
  return rejection;
}

/// Launches the kernel without a graph. The time of a long launch counts as a sample.
void Stopwatch::run_beside(const std::vector<KernelArgument>& arguments) {
  const auto ran = measuring_.launch_timed(kernel_.id, plan_, arguments);
  ++launched_;
  if (const auto* fault = std::get_if<Fault>(&ran)) {
    fault_ = *fault;
  } else if (is_long()) {
    other_us_.push_back(std::get<double>(ran));
  }
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
      if (argument.texture) continue;
      const bool is_input = argument.direction == Direction::kIn;
      const std::size_t bytes = memory_.spec(std::get<BufferId>(arguments[i])).bytes;
      buffers.push_back(memory_.allocate({argument.name, bytes, !is_input}));
      arguments[i] = buffers.back();
      if (is_input) {
        setup_.work.kept().put_back(buffers.back(), *data.inputs[i]);
      } else {
        memory_.poison(buffers.back(),
                       poison_pattern(Poison::kRandom, argument.dtype, random.bits()));
      }
    }
    run_beside(arguments);
    if (!fault_) rejection = compare({{&arguments, &data}});
  } catch (const DeviceMemoryError& error) {
    spdlog::debug("no launch in new buffers was verified: {}", error.what());
  }
  if (fault_ && fault_->device_lost) return rejection;
  for (const BufferId buffer : buffers) memory_.release(buffer);
  return rejection;
}

/// Verifies a kernel with an inout argument by a single launch on fresh data, because each repeated
/// launch would change the inout argument again.
std::optional<Rejection> Stopwatch::verify_inout(Random& random) {
  const std::size_t chosen = random.below(inputs_.size());
  const CheckCase& usual = *inputs_[chosen];
  const CheckCase& fresh = setup_.cases.get(shape_, setup_.fresh_case);
  put_inputs(usual, fresh);
  poison_outputs(random);
  const std::vector<KernelArgument>& arguments = outputs_[chosen];
  fault_ = device_.launch(kernel_.id, plan_, arguments);
  ++launched_;
  std::optional<Rejection> rejection;
  if (!fault_) rejection = compare({{&arguments, &fresh}});
  if (!fault_ || !fault_->device_lost) setup_.cases.restore_inputs(usual);
  return rejection;
}

std::optional<GraphId> Stopwatch::single_launch(std::size_t launch) {
  const std::vector<std::vector<KernelArgument>> sets = {arguments_of(launch)};
  const auto made = measuring_.make_graph(kernel_.id, plan_, sets, 1);
  if (const auto* fault = std::get_if<Fault>(&made)) {
    fault_ = *fault;
    return std::nullopt;
  }
  single_graphs_.push_back(std::get<GraphId>(made));
  return single_graphs_.back();
}

double Stopwatch::run_single(GraphId graph) {
  if (fault_) return 0;
  ++launched_;
  const auto ran = measuring_.run_graph(graph);
  if (const auto* fault = std::get_if<Fault>(&ran)) fault_ = *fault;
  return fault_ ? 0 : std::get<double>(ran);
}

std::optional<Rejection> Stopwatch::verify_pace() {
  // Rejects the kernel if in every round the launch on new data takes longer than the next launch
  // on the same data, by at least kLeastDifferenceUs (the noise of the clock) and at least
  // (kMostRatio − 1) times the time of the fastest launch.
  constexpr std::size_t kRounds = 3;
  constexpr double kMostRatio = 1.5;
  constexpr double kLeastDifferenceUs = 2;
  if (fault_ || has_inout_ || inputs_.size() < 2) return std::nullopt;
  // If a long launch on new data was not much slower, the kernel caches no results.
  if (fresh_us_ > 0 && fresh_us_ < kMostRatio * fastest_us_) return std::nullopt;
  const auto looked_at = single_launch(0);
  const auto between = single_launch(1);
  if (!looked_at || !between) return std::nullopt;
  const CheckCase& usual = *inputs_.front();
  std::size_t slower = 0;
  double ratio = 0;
  try {
    for (std::size_t round = 0; round < kRounds && !fault_; ++round) {
      const CheckCase& fresh = setup_.cases.inputs(shape_, setup_.fresh_case + 1 + round);
      // Before each of the two launches on the fresh data, writes this data and, if launches are
      // short, launches on another input, so that the caches have the same content before both. The
      // two launches of a round therefore differ only in whether the kernel has seen the data.
      const auto run_it = [&] {
        if (fault_) return 0.0;
        put_inputs(usual, fresh);
        if (!is_long()) (void)run_single(*between);
        return run_single(*looked_at);
      };
      const double fresh_us = run_it();
      const double met_us = run_it();
      // The bound depends on the fastest launch in a long graph, because a graph of one launch
      // takes longer than the launch alone.
      const double most_us = std::max(kLeastDifferenceUs, (kMostRatio - 1) * fastest_us_);
      if (fault_ || fresh_us - met_us < most_us) break;
      ++slower;
      ratio = fresh_us / met_us;
    }
  } catch (const DeviceMemoryError& error) {
    spdlog::debug("the launch time on new data was not checked: {}", error.what());
  }
  if (fault_ && fault_->device_lost) return std::nullopt;
  setup_.cases.restore_inputs(usual);
  std::ranges::fill(content_, nullptr);
  if (fault_ || slower < kRounds) return std::nullopt;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", ratio);
  return Rejection{Gate::kTiming, std::string("a launch on new data takes ") + text +
                                      " times as long as the next one on the same data: the "
                                      "kernel remembers results"};
}

std::optional<Rejection> Stopwatch::find_forbidden_write() {
  if (fault_) return std::nullopt;
  setup_.work.begin();
  std::vector<Look> guards;
  for (const auto& arguments : outputs_) {
    for (const KernelArgument& argument : arguments) {
      const auto* buffer = std::get_if<BufferId>(&argument);
      if (buffer != nullptr) guards.push_back(setup_.work.guard_zones(*buffer));
    }
  }
  std::deque<ForbiddenWriteLook> looks;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    looks.emplace_back(setup_.work, setup_.problem, outputs_[i], *inputs_[i]);
  }
  fault_ = setup_.work.finish();
  if (fault_) return std::nullopt;
  std::optional<Rejection> violation;
  for (const Look guard : guards) {
    const auto what = setup_.work.guard_violation(guard);
    if (!what || violation) continue;
    for (std::size_t set = 0; set < outputs_.size(); ++set) {
      repair_guard_zones(device_, outputs_[set], *inputs_[set % inputs_.size()]);
    }
    violation = wrong(*inputs_.front(), *what);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto what = looks[i].found();
    if (!what) continue;
    setup_.cases.restore_inputs(*inputs_[i]);
    if (!violation) violation = wrong(*inputs_[i], *what);
  }
  return violation;
}

}  // namespace evo
