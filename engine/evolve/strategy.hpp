#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/core/rejection.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// The result of evaluating one candidate.
struct Observation {
  Candidate candidate;
  /// p50, or the value of an objective other than the time; nullopt if a gate rejected the
  /// candidate
  std::optional<double> time_us = {};
  std::optional<Gate> failed_at = {};  ///< the gate that rejected the candidate
};

/// Decides which candidates to evaluate next. A strategy, except a user's program
/// (ProgramStrategy), is deterministic on every machine: its state is a function of the space, the
/// options and the sequence of propose() and observe() calls. To resume a run, create the strategy
/// again and repeat the calls with the recorded results. The strategy then continues as if the run
/// had not been interrupted.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Proposes at most `count` distinct valid candidates that were neither proposed nor observed
  /// before. Proposes fewer than `count` only if no further candidates remain, or if a user's
  /// program has no more proposals.
  virtual std::vector<Candidate> propose(std::size_t count) = 0;

  /// Tells the strategy the results of candidates, in the order in which they were proposed. The
  /// results may include candidates that the strategy did not propose, such as milestones.
  virtual void observe(std::span<const Observation> observations) = 0;
};

struct StrategyOptions {
  std::size_t elite_size = 3;
  std::uint64_t seed = 1;
};

/// The names that make_strategy() accepts, besides "program: COMMAND". The default, "full", comes
/// first.
[[nodiscard]] std::span<const std::string_view> strategy_names();

/// Returns true if the proposals of the strategy depend on earlier results.
[[nodiscard]] bool strategy_learns(std::string_view name);

/// Makes a strategy. The name "program: COMMAND" makes a ProgramStrategy, which asks a user's
/// program. Throws an InputError that lists the known names if the name is unknown. `space` must
/// outlive the strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name,
                                                      const CandidateSpace& space,
                                                      const StrategyOptions& options);

}  // namespace evo
