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

/// The result of one evaluation.
struct Observation {
  Candidate candidate;
  std::optional<double> time_us = {};  ///< p50; nullopt if a gate rejected it
  std::optional<Gate> failed_at = {};  ///< set exactly if time_us is not
};

/// Decides which candidates to evaluate next. Deterministic on every machine: the state is a
/// function of the space, the options and the sequence of propose() and observe() calls. To resume
/// a run, create the strategy again and repeat these calls with the recorded results; it then
/// continues as if uninterrupted.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// At most `count` valid candidates, distinct, and none that was proposed or observed before.
  /// Fewer only if the space has no more.
  virtual std::vector<Candidate> propose(std::size_t count) = 0;

  /// Results in the order of the proposals. They may include milestones that were not proposed.
  virtual void observe(std::span<const Observation> observations) = 0;
};

struct StrategyOptions {
  std::size_t elite_size = 3;
  std::uint64_t seed = 1;
};

/// The names that make_strategy accepts, the default ("full") first.
[[nodiscard]] std::span<const std::string_view> strategy_names();

/// Whether its proposals depend on results.
[[nodiscard]] bool strategy_learns(std::string_view name);

/// "program: COMMAND" is a user's program, see ProgramStrategy. Throws InputError listing the known
/// names for an unknown one. `space` must outlive the strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name,
                                                      const CandidateSpace& space,
                                                      const StrategyOptions& options);

}  // namespace evo
