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
  std::optional<double> time_us = {};  ///< p50; nullopt if a gate rejected the candidate
  std::optional<Gate> failed_at = {};  ///< the gate that rejected the candidate
};

/// Decides which candidates to evaluate next. A strategy is deterministic on every machine: its
/// state is a function of the space, the options and the sequence of propose() and observe() calls.
/// To resume a run, create the strategy again and repeat these calls with the recorded results; the
/// strategy then continues as if uninterrupted.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Proposes at most `count` distinct valid candidates that were neither proposed nor observed
  /// before. Proposes fewer only if the space has no more.
  virtual std::vector<Candidate> propose(std::size_t count) = 0;

  /// Takes results in the order of the proposals. Results may include milestones that were not
  /// proposed.
  virtual void observe(std::span<const Observation> observations) = 0;
};

struct StrategyOptions {
  std::size_t elite_size = 3;
  std::uint64_t seed = 1;
};

/// The names that make_strategy() accepts. The default, "full", comes first.
[[nodiscard]] std::span<const std::string_view> strategy_names();

/// Whether the strategy's proposals depend on results.
[[nodiscard]] bool strategy_learns(std::string_view name);

/// Makes a strategy. "program: COMMAND" is a user's program, see ProgramStrategy. Throws InputError
/// for an unknown name, and lists the known names. `space` must outlive the strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name,
                                                      const CandidateSpace& space,
                                                      const StrategyOptions& options);

}  // namespace evo
