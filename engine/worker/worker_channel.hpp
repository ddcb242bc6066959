#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/worker/child_process.hpp"

namespace evo {

/// A worker process on this or another host, and the connection to it. The destructor kills the
/// process.
class WorkerChannel {
 public:
  virtual ~WorkerChannel() = default;

  /// Sends a message to the process without blocking. poll() and wait() send the part that cannot
  /// be sent now. Returns false if an earlier call has found that the process has ended.
  [[nodiscard]] virtual bool send(nlohmann::json message) = 0;
  /// Returns the next message if it has arrived completely. Also sends unsent bytes. Never blocks.
  /// If there is no message, is_open() tells whether a message may still arrive.
  [[nodiscard]] virtual std::optional<nlohmann::json> poll() = 0;
  /// Waits for the next message; nullopt if the process ended or `limit` has passed.
  [[nodiscard]] std::optional<nlohmann::json> wait(std::chrono::milliseconds limit);

  /// False once the process has closed the connection or was killed.
  [[nodiscard]] virtual bool is_open() const = 0;
  /// True if at least a part of the next message has arrived.
  [[nodiscard]] virtual bool is_answering() const = 0;
  /// False once the process was killed.
  [[nodiscard]] virtual bool is_running() const = 0;
  /// CPU time of the process since the last message was sent; 0 if the process does not run. If the
  /// process runs on another host, asks that host and waits for the answer.
  [[nodiscard]] virtual std::chrono::nanoseconds processor_time() = 0;
  /// The file descriptor and its events for which the caller must wait with ::poll(): readable, and
  /// also writable if bytes are not sent yet.
  [[nodiscard]] virtual pollfd interest() const = 0;

  /// Closes the stream to the process, so that the process ends by itself and can write its files,
  /// such as a profiler's results. Kills the process if it has not ended within `limit`.
  virtual void finish(std::chrono::milliseconds limit) = 0;
  /// Kills the process if it still runs, and returns how it ended. Does not wait for the end of a
  /// process on another host.
  virtual Ending kill() = 0;
};

/// A machine that runs worker processes.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  /// Starts a worker process. Throws MissingError if the process cannot be started.
  [[nodiscard]] virtual std::unique_ptr<WorkerChannel> start(
      const std::vector<std::string>& arguments, const WorkerLimits& limits) = 0;
  /// True if the host cannot be reached any more.
  [[nodiscard]] virtual bool is_gone() const { return false; }
  /// Disconnects another host, on which start() then throws; has no effect on this machine.
  virtual void leave() {}
  /// The name of another host; empty for this machine.
  [[nodiscard]] virtual std::string name() const { return {}; }
};

}  // namespace evo
