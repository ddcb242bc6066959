#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/worker/frame.hpp"

namespace evo {

/// A child process that talks frames over a socket pair on its standard input and output. It dies
/// with its parent, and with this object. Create it on the main thread only (the kernel ties
/// "dies with its parent" to the creating thread).
class WorkerProcess {
 public:
  /// Throws MissingError when the program cannot be started.
  WorkerProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  /// Sends one message. False when the process is gone.
  [[nodiscard]] bool send(const nlohmann::json& message);

  /// The next message if one has arrived whole; never waits. Check is_open() when there is none.
  [[nodiscard]] std::optional<nlohmann::json> poll();

  /// Waits for the next message; nothing when the process ended or the time is over.
  [[nodiscard]] std::optional<nlohmann::json> wait(std::chrono::milliseconds limit);

  /// False once the process closed its side.
  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Kills the process if it still runs and says how it ended: "exit code 3", "signal 11
  /// (Segmentation fault)".
  std::string kill();

 private:
  void read_available();

  int descriptor_ = -1;
  int process_ = -1;
  bool open_ = false;
  FrameReader reader_;
};

/// The evo-worker program: named by the environment variable EVO_WORKER, else beside the running
/// program. Throws MissingError when it is not there.
[[nodiscard]] std::filesystem::path worker_program();

/// A limit for people: "10 s", "0.5 s".
[[nodiscard]] std::string seconds_text(std::chrono::milliseconds duration);

}  // namespace evo
