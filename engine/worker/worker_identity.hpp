#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace evo {

/// The version of the message format, which must be the same for both peers of a connection.
inline constexpr int kWorkerProtocol = 1;

/// The identity of a worker, sent as its first frame.
struct WorkerIdentity {
  int protocol = kWorkerProtocol;
  std::string version;             ///< version of evo-tune
  std::string role;                ///< "device" or "compile"
  std::string device;              ///< such as "cuda:0"; empty for a compiler
  std::string host;                ///< name of the host
  std::string gpus;                ///< CUDA_VISIBLE_DEVICES on the host
  std::string job;                 ///< SLURM_JOB_ID on the host; may be empty
  std::string step;                ///< SLURM_STEP_ID on the host; may be empty
  std::string task;                ///< SLURM_PROCID on the host; may be empty
  std::string nonce;               ///< random, a new one for each process
  int process = 0;                 ///< process id on the host
  std::uint64_t memory_bytes = 0;  ///< memory for one compiler on the host

  /// The worker's name for messages: "node3 (job 17.0, task 2)".
  [[nodiscard]] std::string name() const {
    std::string text = host;
    if (!job.empty()) text += " (job " + job + "." + step + ", task " + task + ")";
    return text;
  }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkerIdentity, protocol, version, role, device, host, gpus, job,
                                   step, task, nonce, process, memory_bytes)

/// Limit of the first frame's length in bytes, small because the sender is not authenticated yet.
inline constexpr std::size_t kLongestGreeting = 4096;

}  // namespace evo
