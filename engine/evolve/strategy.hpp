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

/// What one paid-for evaluation taught.
struct Observation {
  Candidate candidate;
  std::optional<double> time_us = {};  ///< p50; nothing when a gate stopped it
  std::optional<Gate> failed_at = {};  ///< set exactly when time_us is not
};

/// Decides what to evaluate next. Deterministic: the state is a function of the space, the options
/// and the sequence of propose() and observe() calls, on every machine. To resume a run, make the
/// strategy again and repeat these calls with the recorded results; it then goes on as it would
/// have.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// At most `count` valid candidates, distinct, and none that was proposed or observed before;
  /// fewer only when the space holds no more.
  virtual std::vector<Candidate> propose(std::size_t count) = 0;

  /// Results, in the order of the proposals. Milestones that were not proposed may be among them.
  virtual void observe(std::span<const Observation> observations) = 0;
};

struct StrategyOptions {
  std::size_t elite_size = 3;
  std::uint64_t seed = 1;
};

/// The names make_strategy knows, the default ("full") first.
[[nodiscard]] std::span<const std::string_view> strategy_names();

/// Whether what it proposes depends on results.
[[nodiscard]] bool strategy_learns(std::string_view name);

/// "program: COMMAND" is a strategy of the user's, see ProgramStrategy. Throws InputError for an
/// unknown name, listing the known ones. `space` must outlive the
/// strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name,
                                                      const CandidateSpace& space,
                                                      const StrategyOptions& options);

}  // namespace evo
