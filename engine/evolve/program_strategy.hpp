#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/evolve/program_pipe.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {

/// How the name of a strategy begins that is a program of the user's.
inline constexpr std::string_view kProgramStrategy = "program:";

/// How long a program may take for an answer: it may ask a language model.
inline constexpr std::chrono::milliseconds kProgramLimit = std::chrono::minutes(10);

/// A strategy that is a program: docs/search.md has what is said in each direction, a JSON object a
/// line. It is started when it is asked first. Its proposals are checked: a macro or value that the
/// space lacks is an InputError; a configuration that is not valid, or was proposed before, is
/// refused, and the program is asked again.
class ProgramStrategy final : public SearchBase {
 public:
  ProgramStrategy(const CandidateSpace& space, const StrategyOptions& options, std::string command,
                  std::chrono::milliseconds limit = kProgramLimit);

  /// Throws InputError when the program dies, does not answer, answers what is no proposal, or
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
