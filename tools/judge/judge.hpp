#pragma once

#include <cstdint>
#include <string>

#include "engine/core/error.hpp"
#include "tools/cli/candidate_options.hpp"
#include "tools/tune/session_options.hpp"

namespace evo {

/// The command line of evo-judge.
struct JudgeOptions {
  SessionOptions session;
  CandidateOptions candidate;
  std::uint64_t check_seed = 0;  ///< 0: a new seed
  std::string save;              ///< folder for the kernel's files; empty: none
  std::string outputs;           ///< folder for the outputs of a launch; empty: judge the kernel
  std::string baseline;          ///< database or bundle; empty: none
  bool profile = false;
  bool energy = false;
  bool json = false;
  bool log = false;
};

/// Judges one configuration and prints all results. Returns kNothingGreen if the kernel is rejected
/// or slower than the baseline. Throws InputError, MissingError or DbError.
[[nodiscard]] ExitCode judge(const JudgeOptions& options);

}  // namespace evo
