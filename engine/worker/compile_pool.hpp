#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/worker/process.hpp"

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Told of what happens to worker processes: kind and text of an event.
using EventSink = std::function<void(const std::string& kind, const std::string& text)>;

struct CompilePoolOptions {
  std::size_t jobs = 1;                    ///< processes
  std::chrono::milliseconds limit{60000};  ///< for one compilation
  std::uint64_t memory_bytes = 0;          ///< of one process; 0: by the machine's memory
  EventSink on_event = {};
};

/// Compiles in several processes at once, each with a deadline and a limit of memory: a compiler
/// that crashes or hangs costs one candidate.
///
/// A failure that need not be the kernel's is tried once more, in a fresh process: the compiler was
/// killed by somebody else, crashed, or reported an error of its own; after running out of memory,
/// it runs alone. Only then is the kernel rejected, and nothing of that is kept as the kernel's.
class CompilePool {
 public:
  struct Finished {
    std::size_t ticket = 0;
    CompileOutcome outcome;
    bool reproducible = true;  ///< false when the compiler was killed or failed: not worth caching
    std::vector<Dependency> dependencies = {};  ///< what it opened in include paths
    double wall_ms = 0;
  };

  /// Starts processes on demand.
  CompilePool(std::filesystem::path program, CompilePoolOptions options);

  /// Version of the compiler, "nvrtc 13.0". Throws MissingError when there is no NVRTC.
  [[nodiscard]] const std::string& version();

  /// Queues a compilation; `ticket` comes back with its outcome.
  void submit(std::size_t ticket, CompileRequest request);

  /// What has finished since the last call; starts queued work. Never waits. Throws MissingError
  /// when the toolchain is broken.
  [[nodiscard]] std::vector<Finished> collect();

  [[nodiscard]] bool is_idle() const {
    return in_flight() == 0 && queue_.empty() && retries_.empty();
  }
  [[nodiscard]] std::size_t in_flight() const;
  /// What to poll for and the first deadline among running compilations.
  [[nodiscard]] std::vector<pollfd> interests() const;
  [[nodiscard]] SteadyTime next_deadline() const;

 private:
  struct Job {
    std::size_t ticket = 0;
    CompileRequest request;
    bool retried = false;
    bool alone = false;  ///< nothing else runs beside it
  };
  struct Slot {
    std::optional<WorkerProcess> process = {};
    std::optional<Job> job = {};
    SteadyTime started = {};
    int compiled = 0;
    bool was_alone = false;  ///< nothing ran beside the job when it started
  };

  void start_queued();
  [[nodiscard]] bool may_start(const Job& job) const;
  void start(Slot& slot, Job job);
  [[nodiscard]] std::optional<Finished> look_at(Slot& slot);
  [[nodiscard]] std::optional<Finished> take_reply(Slot& slot, const nlohmann::json& reply);
  [[nodiscard]] std::optional<Finished> take_ending(Slot& slot, bool late);
  [[nodiscard]] std::optional<Finished> try_again(Slot& slot, CompilerFailure failure);
  [[nodiscard]] Finished finish(Slot& slot, CompileOutcome outcome, bool reproducible) const;

  std::filesystem::path program_;
  CompilePoolOptions options_;
  std::vector<Slot> slots_;
  std::deque<Job> queue_;
  std::deque<Job> retries_;  ///< go first
  std::string version_;
};

}  // namespace evo
