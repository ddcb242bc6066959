#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/worker/host_port.hpp"

namespace evo {

/// The workers that one host lends to a run.
struct AgentOptions {
  HostPort coordinator;
  std::string key;                   ///< as key_of_environment() has it
  std::string version;               ///< of this program
  std::vector<std::string> devices;  ///< one worker for each, "cuda:0"
  std::size_t compilers = 0;         ///< and so many that compile
  std::filesystem::path program;     ///< started for the work
};

/// Lends workers to a run elsewhere (evo-worker host --connect HOST:PORT): a process for each
/// dials the coordinator, starts and kills the program that works as the coordinator says, and
/// carries frames to and fro. One that loses the coordinator dials again, and ends itself after
/// kGiveUpAfter. Returns the exit code when all have ended: that of the first that failed.
[[nodiscard]] int serve_run_elsewhere(const AgentOptions& options);

}  // namespace evo
