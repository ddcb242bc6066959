#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/worker/frame.hpp"
#include "engine/worker/limits.hpp"

namespace evo {

/// How a worker process ended.
struct Ending {
  /// By a signal that a process gets from others (the user, the machine when memory is short), not
  /// by one that it causes itself. Also one that was stopped so when we killed it.
  bool killed_from_outside = false;
  std::string text;    ///< "exit code 3", "signal 11 (Segmentation fault)"
  int exit_code = -1;  ///< -1: it did not exit by itself
};

/// A child process that talks frames over a socket pair on its standard input and output. It dies
/// with its parent, and with this object. Create it on the main thread only (the kernel ties
/// "dies with its parent" to the creating thread).
class WorkerProcess {
 public:
  /// Throws MissingError when the program cannot be started.
  WorkerProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                const WorkerLimits& limits = {});
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  /// Takes one message to be sent, whole; never waits: what the process does not read now goes out
  /// in poll() and wait(). False when the process is gone.
  [[nodiscard]] bool send(nlohmann::json message);

  /// The next message if one has arrived whole; sends what is waiting; never waits. Check is_open()
  /// when there is none.
  [[nodiscard]] std::optional<nlohmann::json> poll();

  /// Waits for the next message; nothing when the process ended or the time is over.
  [[nodiscard]] std::optional<nlohmann::json> wait(std::chrono::milliseconds limit);

  /// Whether a message has begun to arrive.
  [[nodiscard]] bool is_answering() const { return reader_.has_a_part(); }
  /// False once the process closed its side.
  [[nodiscard]] bool is_open() const { return open_; }
  /// Of the process; -1 when it does not run.
  [[nodiscard]] int number() const { return process_; }
  /// Time that processors have spent on it; 0 where it does not run.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;
  /// What to wait for with ::poll(): something to read, or room for what is waiting.
  [[nodiscard]] pollfd interest() const;

  /// Tells the process that nothing more comes, so that it ends by itself: what is written when a
  /// process ends, such as the figures of a profiler, gets written. Kills it after so long.
  void finish(std::chrono::milliseconds limit);
  /// Kills the process if it still runs and says how it ended. One that a driver holds on to beyond
  /// that is given up after ten seconds.
  Ending kill();

 private:
  void read_available();
  void write_waiting();
  void close_channel();

  int descriptor_ = -1;
  int process_ = -1;
  bool open_ = false;
  FrameReader reader_;
  std::vector<std::uint8_t> waiting_;  ///< to be sent
  std::size_t sent_ = 0;               ///< of it
};

/// The evo-worker program: named by the environment variable EVO_WORKER, else beside the running
/// program. Throws MissingError when it is not there.
[[nodiscard]] std::filesystem::path worker_program();

/// A limit for people: "10 s", "0.5 s".
[[nodiscard]] std::string seconds_text(std::chrono::milliseconds duration);

}  // namespace evo
