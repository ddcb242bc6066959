#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/evolve/program_pipe.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {

/// The option --strategy with this prefix names a user's program as the strategy.
inline constexpr std::string_view kProgramStrategy = "program:";

/// The time limit for one answer of a user's program. The limit is long because the program may ask
/// a language model.
inline constexpr std::chrono::milliseconds kProgramLimit = std::chrono::minutes(10);

/// A strategy that a user's program implements. docs/search.md describes the messages, each of
/// which is a JSON object in one line. The program is started when the first message is sent to it.
/// The program's proposals are checked: a missing or unknown macro, or an unknown value, is an
/// InputError; an invalid or repeated configuration is refused, and the program is asked again.
class ProgramStrategy final : public SearchBase {
 public:
  ProgramStrategy(const CandidateSpace& space, const StrategyOptions& options, std::string command,
                  std::chrono::milliseconds limit = kProgramLimit);

  /// Throws InputError if the program dies, does not answer, answers with an invalid message,
  /// proposes more candidates than it was asked for, or proposes nothing new and valid in 100
  /// successive answers.
  std::vector<Candidate> propose(std::size_t count) override;
  void observe(std::span<const Observation> observations) override;

 private:
  ProgramPipe& program();

  std::string command_;
  std::chrono::milliseconds limit_;
  std::optional<ProgramPipe> program_;
};

}  // namespace evo
