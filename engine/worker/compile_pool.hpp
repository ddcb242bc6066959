#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/worker/compile_service.hpp"
#include "engine/worker/process.hpp"

namespace evo {

/// Told of what happens to worker processes: kind and text of an event.
using EventSink = std::function<void(const std::string& kind, const std::string& text)>;

struct CompilePoolOptions {
  std::size_t jobs = 1;  ///< processes
  /// For one compilation: of a processor's time where the compiler works and others keep it from a
  /// processor, up to ten times as long by the clock; else by the clock.
  std::chrono::milliseconds limit{60000};
  std::uint64_t memory_bytes = 0;  ///< of one process; 0: by the machine's memory
  EventSink on_event = {};
};

/// Compiles in several processes at once, each with a deadline and a limit of memory: a compiler
/// that crashes or hangs costs one candidate.
///
/// A failure that need not be the kernel's is tried once more, in a fresh process: the compiler was
/// killed by somebody else, crashed, or reported an error of its own. After it crashed or ran out
/// of memory, it runs alone and with twice the memory: some compilers end themselves where memory
/// is short. Only then is the kernel rejected, and nothing of that is kept as the kernel's.
class CompilePool final : public CompileService {
 public:
  /// Starts processes on demand.
  CompilePool(std::filesystem::path program, CompilePoolOptions options);

  [[nodiscard]] const std::string& version() override;
  void submit(std::size_t ticket, CompileRequest request) override;
  [[nodiscard]] std::vector<Finished> collect() override;
  [[nodiscard]] std::size_t in_flight() const override;
  [[nodiscard]] std::vector<pollfd> interests() const override;
  [[nodiscard]] SteadyTime next_deadline() const override;

  /// Nothing runs and nothing is queued.
  [[nodiscard]] bool is_idle() const {
    return in_flight() == 0 && queue_.empty() && retries_.empty();
  }

 private:
  struct Job {
    std::size_t ticket = 0;
    CompileRequest request;
    bool retried = false;
    bool alone = false;  ///< nothing else runs beside it, and it may take more memory
  };
  struct Slot {
    std::optional<WorkerProcess> process = {};
    std::optional<Job> job = {};
    SteadyTime started = {};
    SteadyTime deadline = {};
    std::chrono::nanoseconds processor_time = {};  ///< of the process when it was last looked at
    std::chrono::nanoseconds used = {};            ///< of it, for this job
    int compiled = 0;
    bool has_more = false;  ///< memory than others: of a job that runs alone
  };

  void start_queued();
  [[nodiscard]] bool may_start(const Job& job) const;
  void start(Slot& slot, Job job);
  [[nodiscard]] bool is_late(Slot& slot) const;
  [[nodiscard]] std::optional<Finished> look_at(Slot& slot);
  [[nodiscard]] std::optional<Finished> take_reply(Slot& slot, const nlohmann::json& reply);
  [[nodiscard]] std::optional<Finished> take_ending(Slot& slot, bool late);
  [[nodiscard]] std::optional<Finished> try_again(Slot& slot, CompilerFailure failure);
  [[nodiscard]] std::string out_of_memory_text(const std::string& why) const;
  [[nodiscard]] Finished finish(Slot& slot, CompileOutcome outcome, bool reproducible) const;

  std::filesystem::path program_;
  CompilePoolOptions options_;
  std::vector<Slot> slots_;
  std::deque<Job> queue_;
  std::deque<Job> retries_;  ///< go first
  std::string version_;
};

}  // namespace evo
