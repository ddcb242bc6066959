#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/worker/frame_stream.hpp"
#include "engine/worker/worker_channel.hpp"

namespace evo {

/// A worker process on this machine that exchanges frames over its standard input and output.
/// Create objects on the main thread only, because Linux kills the process when the thread that
/// created it ends.
class WorkerProcess final : public WorkerChannel {
 public:
  /// Throws MissingError if the system cannot create a process. If it cannot execute `program`, the
  /// process ends with exit code 127.
  WorkerProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                const WorkerLimits& limits = {});

  [[nodiscard]] bool send(nlohmann::json message) override;
  [[nodiscard]] std::optional<nlohmann::json> poll() override { return frames_.poll(); }
  [[nodiscard]] bool is_open() const override { return is_running() && frames_.is_open(); }
  [[nodiscard]] bool is_answering() const override { return frames_.is_answering(); }
  [[nodiscard]] bool is_running() const override { return number() >= 0; }
  [[nodiscard]] std::chrono::nanoseconds processor_time() override {
    return process_.processor_time() - time_before_;
  }
  [[nodiscard]] pollfd interest() const override { return frames_.interest(); }
  void finish(std::chrono::milliseconds limit) override;
  Ending kill() override;

  /// The process id; -1 if the process does not run.
  [[nodiscard]] int number() const { return process_.number(); }
  /// Like send() and poll(), for messages that are encoded as frames.
  [[nodiscard]] bool send_frame(std::span<const std::uint8_t> frame);
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> poll_frame() {
    return frames_.poll_frame();
  }
  [[nodiscard]] std::size_t waiting_bytes() const { return frames_.waiting_bytes(); }

 private:
  WorkerProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                const WorkerLimits& limits, std::pair<FileDescriptor, FileDescriptor> sockets);

  ChildProcess process_;
  FrameStream frames_;
  std::chrono::nanoseconds time_before_{};  ///< CPU time when the last message was sent
};

/// Starts worker processes on this machine.
class LocalHost final : public WorkerHost {
 public:
  explicit LocalHost(std::filesystem::path program) : program_(std::move(program)) {}
  [[nodiscard]] std::unique_ptr<WorkerChannel> start(const std::vector<std::string>& arguments,
                                                     const WorkerLimits& limits) override {
    return std::make_unique<WorkerProcess>(program_, arguments, limits);
  }

 private:
  std::filesystem::path program_;
};

/// The path of evo-worker: the environment variable EVO_WORKER or, if not set, own_worker(). Throws
/// MissingError if that program does not exist or cannot be executed.
[[nodiscard]] std::filesystem::path worker_program();
/// The path of evo-worker in the folder of the running program; ignores EVO_WORKER.
[[nodiscard]] std::filesystem::path own_worker();

/// A duration as text for messages: "10 s", "0.5 s".
[[nodiscard]] std::string seconds_text(std::chrono::milliseconds duration);

}  // namespace evo
