#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/worker/host_port.hpp"

namespace evo {

/// The workers that one host provides to a run on another host.
struct AgentOptions {
  HostPort coordinator;              ///< the address on which the run's gateway listens
  std::string key;                   ///< from key_of_environment()
  std::string version;               ///< of this program
  std::vector<std::string> devices;  ///< "cuda:0"; each gets one worker
  std::size_t compilers = 0;         ///< number of workers that compile
  std::filesystem::path program;     ///< evo-worker, which the agents start
};

/// Provides workers to a run on another host (evo-worker host --connect HOST:PORT). For each
/// worker, an agent process connects to the run's coordinator, starts and kills a worker process on
/// the coordinator's request, and forwards frames in both directions. An agent that loses the
/// connection tries to reconnect, and ends if it does not succeed within kGiveUpAfter after the
/// coordinator's last message. Returns when all agents have ended, with the exit code of the first
/// agent that failed.
[[nodiscard]] int serve_run_elsewhere(const AgentOptions& options);

}  // namespace evo
