#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace evo {

/// The version of the messages; both sides of a connection must have the same.
inline constexpr int kWorkerProtocol = 1;

/// The first frame of a worker: its identity.
struct WorkerIdentity {
  int protocol = kWorkerProtocol;
  std::string version;             ///< of the program
  std::string role;                ///< "device" or "compile"
  std::string device;              ///< as on a command line; empty for a compiler
  std::string host;                ///< its name
  std::string gpus;                ///< CUDA_VISIBLE_DEVICES there
  std::string job;                 ///< the job id of Slurm or another launcher; may be empty
  std::string step;                ///< likewise
  std::string task;                ///< likewise
  std::string nonce;               ///< random, a new one for each process
  int process = 0;                 ///< its process id there
  std::uint64_t memory_bytes = 0;  ///< for one compiler there

  /// As text for messages: "node3 (job 17.0, task 2)".
  [[nodiscard]] std::string name() const {
    std::string text = host;
    if (!job.empty()) text += " (job " + job + "." + step + ", task " + task + ")";
    return text;
  }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkerIdentity, protocol, version, role, device, host, gpus, job,
                                   step, task, nonce, process, memory_bytes)

/// Longer first frames are an error, because the sender is not authenticated yet.
inline constexpr std::size_t kLongestGreeting = 4096;

}  // namespace evo
