#pragma once

#include <string>

namespace evo {

struct ProgramResult {
  int exit_code = -1;  ///< 128 + the signal's number when one ended it
  std::string out;
  std::string err;
};

/// Runs one of the project's programs ("evo-elite --json …") through the shell and waits for it.
/// `folder`: where it runs. `prefix`: what stands before the program, e.g. "env NAME=VALUE ".
/// Throws std::runtime_error when it cannot be started.
[[nodiscard]] ProgramResult run_program(const std::string& command, const std::string& folder,
                                        const std::string& prefix = {});

}  // namespace evo
