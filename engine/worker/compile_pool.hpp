#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "engine/worker/compile_service.hpp"
#include "engine/worker/process.hpp"

namespace evo {

struct CompilePoolOptions {
  std::size_t jobs = 1;  ///< compiler processes on this machine
  /// Time limit of one compilation, in elapsed time. If a compiler gets little CPU time because of
  /// other processes, the limit applies to its CPU time, and the elapsed time may be up to ten
  /// times the limit.
  std::chrono::milliseconds limit{60000};
  std::uint64_t memory_bytes = 0;  ///< limit of one process; 0: see compiler_memory_bytes()
  EventSink on_event = {};
};

/// Compiles kernels in several processes at once. Each process has a time limit and a memory limit,
/// so that a compiler that crashes or hangs affects one candidate only.
///
/// A failure possibly has another cause than the kernel if another process killed the compiler, or
/// if the compiler crashed, ran out of memory or reported an internal error. After such a failure,
/// the pool compiles the kernel once more in a new process on this machine. After a crash or a lack
/// of memory, the new process runs alone and with twice the memory, because some compilers end
/// themselves if memory is short. After a second failure, the kernel is rejected, but the rejection
/// is not stored for later runs.
///
/// Compilers may run on other hosts, which may connect and disconnect at any time. If a host is
/// lost during a compilation, the kernel is compiled on another host, and on this machine if five
/// hosts were lost, so that a broken host does not cause a rejection.
class CompilePool final : public CompileService {
 public:
  /// The pool starts compiler processes when needed. `loop` must outlive the pool.
  CompilePool(EventLoop& loop, std::filesystem::path program, CompilePoolOptions options);

  /// Adds a compiler process on `host` if its compiler has the same version() as this machine's. If
  /// the versions differ or the process does not answer, reports the refusal to
  /// CompilePoolOptions::on_event. `memory_bytes`: memory limit of the process.
  Task<> add(std::shared_ptr<WorkerHost> host, std::uint64_t memory_bytes) override;

  [[nodiscard]] const std::string& version() override;
  Task<Finished> compile(CompileRequest request) override;
  [[nodiscard]] std::size_t in_flight() const override;

 private:
  /// One compiler process, which is started when needed, and the compilation that it runs.
  struct Slot {
    std::shared_ptr<WorkerHost> host;
    std::uint64_t memory_bytes = 0;  ///< memory limit of a process
    std::unique_ptr<WorkerChannel> process = {};
    bool is_taken = false;
    bool is_alone = false;  ///< its job runs alone
    int compiled = 0;
    bool has_more = false;                    ///< the process has more memory than memory_bytes
    std::optional<KernelSource> source = {};  ///< the source that the process keeps

    [[nodiscard]] bool is_free() const { return !is_taken && !host->is_gone(); }
  };
  /// One attempt to compile a request in one process.
  struct Attempt {
    SteadyTime started = {};
    SteadyTime deadline = {};
  };
  /// A failed attempt whose cause is possibly not the kernel, and how to repeat the attempt.
  struct Failed {
    CompilerFailure failure;
    bool needs_all = false;  ///< the next attempt runs alone, with more memory
    bool lost_host = false;  ///< the host was lost before its worker answered
  };
  /// Restrictions on where a compilation may run.
  struct Needs {
    bool at_home = false;  ///< on this machine
    bool alone = false;    ///< on this machine, without other jobs
  };
  struct Waiting {
    Needs needs;
    Event* turn = nullptr;
  };
  /// Gives a slot that take_slot() has reserved back to the pool when the scope ends.
  class Taken;

  Task<std::variant<Finished, Failed>> attempt_anywhere(const CompileRequest& request, bool retried,
                                                        Needs needs);
  [[nodiscard]] std::string refusal_of(const Slot& slot, const nlohmann::json& reply) const;
  void send_away(const Slot& slot, const std::string& why) const;
  [[nodiscard]] Slot* slot_for(const Needs& needs, bool spares_home);
  [[nodiscard]] std::pair<Event*, Slot*> next_in_queue();
  Task<Slot*> take_slot(Needs needs, bool first);
  void give_back(Slot& slot);
  void wake_next();
  void prepare(Slot& slot, bool afresh, bool alone);
  [[nodiscard]] static bool send(Slot& slot, const CompileRequest& request);
  Task<std::variant<Finished, Failed>> attempt(const CompileRequest& request, bool retried,
                                               Needs needs);
  [[nodiscard]] bool is_late(Slot& slot, Attempt& attempt) const;
  [[nodiscard]] std::optional<std::variant<Finished, Failed>> look_at(Slot& slot, Attempt& attempt);
  [[nodiscard]] std::variant<Finished, Failed> result_of(Slot& slot, const nlohmann::json& reply);
  void tell(const std::string& kind, const std::string& text) const;
  [[nodiscard]] std::variant<Finished, Failed> ending_of(Slot& slot, bool late) const;
  [[nodiscard]] std::string out_of_memory_text(const std::string& why) const;

  EventLoop& loop_;
  CompilePoolOptions options_;
  std::deque<Slot> slots_;     ///< slots of this machine first; only grows
  std::deque<Waiting> queue_;  ///< repeated jobs, newest first; then other jobs, oldest first
  std::string version_;
};

}  // namespace evo
