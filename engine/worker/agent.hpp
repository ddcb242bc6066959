#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/worker/host_port.hpp"

namespace evo {

/// The workers that one host lends to a run.
struct AgentOptions {
  HostPort coordinator;
  std::string key;                   ///< from key_of_environment()
  std::string version;               ///< of this program
  std::vector<std::string> devices;  ///< one worker for each, "cuda:0"
  std::size_t compilers = 0;         ///< number of workers that compile
  std::filesystem::path program;     ///< the program that does the work
};

/// Lends workers to a run on another host (evo-worker host --connect HOST:PORT). For each worker,
/// an agent process connects to the coordinator, starts and kills the working program on its
/// request, and forwards frames in both directions. An agent that loses the coordinator reconnects,
/// and ends after kGiveUpAfter. Returns when all agents have ended, with the exit code of the first
/// that failed.
[[nodiscard]] int serve_run_elsewhere(const AgentOptions& options);

}  // namespace evo
