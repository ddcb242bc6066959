#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/evolve/program_pipe.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {

/// The prefix of a strategy's name if the strategy is a user's program.
inline constexpr std::string_view kProgramStrategy = "program:";

/// The time limit for an answer of a program. The limit is long because the program may ask a
/// language model.
inline constexpr std::chrono::milliseconds kProgramLimit = std::chrono::minutes(10);

/// A strategy that is a user's program. docs/search.md describes its messages, each a JSON object
/// in one line. The program is started at the first request. The program's proposals are checked:
/// an unknown macro or value is an InputError; an invalid or repeated configuration is rejected,
/// and the program is asked again.
class ProgramStrategy final : public SearchBase {
 public:
  ProgramStrategy(const CandidateSpace& space, const StrategyOptions& options, std::string command,
                  std::chrono::milliseconds limit = kProgramLimit);

  /// Throws InputError if the program dies, does not answer, answers with an invalid message, or
  /// proposes nothing new and valid in 100 answers.
  std::vector<Candidate> propose(std::size_t count) override;
  void observe(std::span<const Observation> observations) override;

 private:
  ProgramPipe& program();

  std::string command_;
  std::chrono::milliseconds limit_;
  std::optional<ProgramPipe> program_;
};

}  // namespace evo
