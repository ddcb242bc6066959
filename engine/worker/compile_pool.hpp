#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/worker/process.hpp"

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Compiles in several processes at once, each with a deadline: a compiler that crashes or hangs
/// costs one candidate.
class CompilePool {
 public:
  struct Finished {
    std::size_t ticket = 0;
    CompileOutcome outcome;
    bool reproducible = true;  ///< false when the compiler was killed or died: not worth caching
    double wall_ms = 0;
  };

  /// Starts `jobs` processes on demand. `limit`: for one compilation.
  CompilePool(std::filesystem::path program, std::size_t jobs, std::chrono::milliseconds limit);

  /// Version of the compiler, "nvrtc 13.0". Throws MissingError when there is no NVRTC.
  [[nodiscard]] const std::string& version();

  /// Queues a compilation; `ticket` comes back with its outcome.
  void submit(std::size_t ticket, CompileRequest request);

  /// What has finished since the last call; starts queued work. Never waits. Throws MissingError
  /// when the toolchain is broken.
  [[nodiscard]] std::vector<Finished> collect();

  [[nodiscard]] bool is_idle() const { return in_flight() == 0 && queue_.empty(); }
  [[nodiscard]] std::size_t in_flight() const;
  /// Descriptors to poll and the first deadline among running compilations.
  [[nodiscard]] std::vector<int> descriptors() const;
  [[nodiscard]] SteadyTime next_deadline() const;

 private:
  struct Job {
    std::size_t ticket = 0;
    CompileRequest request;
  };
  struct Slot {
    std::optional<WorkerProcess> process = {};
    std::optional<std::size_t> ticket = {};
    SteadyTime started = {};
    int compiled = 0;
  };

  void start_queued();
  void start(Slot& slot, const Job& job);
  [[nodiscard]] std::optional<Finished> look_at(Slot& slot);

  std::filesystem::path program_;
  std::chrono::milliseconds limit_;
  std::vector<Slot> slots_;
  std::deque<Job> queue_;
  std::string version_;
};

}  // namespace evo
