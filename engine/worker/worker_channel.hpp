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

/// A worker process, on this or another host, and the messages to and from it. The destructor kills
/// the process.
class WorkerChannel {
 public:
  virtual ~WorkerChannel() = default;

  /// Takes one whole message to send; never blocks. poll() and wait() send the part that cannot be
  /// sent now. False if the process is gone.
  [[nodiscard]] virtual bool send(nlohmann::json message) = 0;
  /// The next message if a whole one has arrived; sends waiting bytes; never blocks. Check
  /// is_open() if there is none.
  [[nodiscard]] virtual std::optional<nlohmann::json> poll() = 0;
  /// Waits for the next message; nothing if the process ended or the time is over.
  [[nodiscard]] std::optional<nlohmann::json> wait(std::chrono::milliseconds limit);

  /// False once the process closed its side.
  [[nodiscard]] virtual bool is_open() const = 0;
  /// Whether a message has begun to arrive.
  [[nodiscard]] virtual bool is_answering() const = 0;
  /// False once it was killed.
  [[nodiscard]] virtual bool is_running() const = 0;
  /// Processor time of the process since the last message was sent; 0 if it does not run. For
  /// another host this asks that host and waits for the answer.
  [[nodiscard]] virtual std::chrono::nanoseconds processor_time() = 0;
  /// The descriptor and events for ::poll(): readable, or writable if bytes are waiting.
  [[nodiscard]] virtual pollfd interest() const = 0;

  /// Closes the stream to the process, so that it ends by itself and still writes its files, such
  /// as the figures of a profiler. Kills it after `limit`.
  virtual void finish(std::chrono::milliseconds limit) = 0;
  /// Kills the process if it still runs, and returns how it ended.
  virtual Ending kill() = 0;
};

/// A machine that runs worker processes.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  /// Throws MissingError if no worker can be started there.
  [[nodiscard]] virtual std::unique_ptr<WorkerChannel> start(
      const std::vector<std::string>& arguments, const WorkerLimits& limits) = 0;
  /// Whether it cannot be reached any more.
  [[nodiscard]] virtual bool is_gone() const { return false; }
  /// Stops using the host: no worker is started there any more.
  virtual void leave() {}
  /// The name of another host; empty for this machine.
  [[nodiscard]] virtual std::string name() const { return {}; }
};

}  // namespace evo
