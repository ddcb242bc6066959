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

/// A worker process, here or on another host, and the messages that go to and from it. Kills the
/// process when it goes.
class WorkerChannel {
 public:
  virtual ~WorkerChannel() = default;

  /// Takes one message to be sent, whole; never waits: the part that does not go out now goes out
  /// in poll() and wait(). False when the process is gone.
  [[nodiscard]] virtual bool send(nlohmann::json message) = 0;
  /// The next message if one has arrived whole; sends what is waiting; never waits. Check is_open()
  /// when there is none.
  [[nodiscard]] virtual std::optional<nlohmann::json> poll() = 0;
  /// Waits for the next message; nothing when the process ended or the time is over.
  [[nodiscard]] std::optional<nlohmann::json> wait(std::chrono::milliseconds limit);

  /// False once the process closed its side.
  [[nodiscard]] virtual bool is_open() const = 0;
  /// Whether a message has begun to arrive.
  [[nodiscard]] virtual bool is_answering() const = 0;
  /// False once it was killed.
  [[nodiscard]] virtual bool is_running() const = 0;
  /// Time that processors have spent on it since the last message was sent; 0 where it does not
  /// run. On another host this asks, and waits for the answer.
  [[nodiscard]] virtual std::chrono::nanoseconds processor_time() = 0;
  /// What to wait for with ::poll(): something to read, or room for what is waiting.
  [[nodiscard]] virtual pollfd interest() const = 0;

  /// Tells the process that nothing more comes, so that it ends by itself: what is written when a
  /// process ends, such as the figures of a profiler, gets written. Kills it after so long.
  virtual void finish(std::chrono::milliseconds limit) = 0;
  /// Kills the process if it still runs and says how it ended.
  virtual Ending kill() = 0;
};

/// Where worker processes run.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  /// Throws MissingError when none can be started there.
  [[nodiscard]] virtual std::unique_ptr<WorkerChannel> start(
      const std::vector<std::string>& arguments, const WorkerLimits& limits) = 0;
  /// Whether it cannot be reached any more.
  [[nodiscard]] virtual bool is_gone() const { return false; }
  /// Sends it away: nothing is started there any more.
  virtual void leave() {}
  /// The name of another host; empty for this machine.
  [[nodiscard]] virtual std::string name() const { return {}; }
};

}  // namespace evo
