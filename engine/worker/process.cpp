#include "engine/worker/process.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"

namespace evo {

WorkerProcess::WorkerProcess(const std::filesystem::path& program,
                             const std::vector<std::string>& arguments, const WorkerLimits& limits)
    : WorkerProcess(program, arguments, limits, socket_pair(SOCK_STREAM)) {}

WorkerProcess::WorkerProcess(const std::filesystem::path& program,
                             const std::vector<std::string>& arguments, const WorkerLimits& limits,
                             std::pair<FileDescriptor, FileDescriptor> sockets)
    : process_(program, arguments, limits, std::move(sockets.second)),
      frames_(std::make_unique<SocketStream>(std::move(sockets.first))) {}

bool WorkerProcess::send(nlohmann::json message) {
  return send_frame(encode_frame(std::move(message)));
}

bool WorkerProcess::send_frame(std::span<const std::uint8_t> frame) {
  time_before_ = process_.processor_time();
  return frames_.send_frame(frame) && is_open();
}

void WorkerProcess::finish(std::chrono::milliseconds limit) {
  if (process_.number() < 0) return;
  frames_.end_writing();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  try {
    while (is_open() && std::chrono::steady_clock::now() < deadline) {
      (void)wait(std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now()));
    }
  } catch (const Error&) {
    // The process sent an invalid message. kill() below ends it.
  }
  kill();
}

Ending WorkerProcess::kill() { return process_.kill(!frames_.is_open()); }

std::optional<nlohmann::json> WorkerChannel::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (auto message = poll()) return message;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (!is_open() || left.count() <= 0) return std::nullopt;
    pollfd entry = interest();
    ::poll(&entry, 1, static_cast<int>(left.count()) + 1);
  }
}

std::filesystem::path worker_program() {
  const auto chosen = environment_variable("EVO_WORKER");
  const std::filesystem::path program = chosen ? std::filesystem::path(*chosen) : own_worker();
  if (access(program.c_str(), X_OK) != 0) {
    throw MissingError("the program evo-worker is missing at " + program.string() +
                       "; install it next to the other programs or name it in EVO_WORKER");
  }
  return program;
}

std::filesystem::path own_worker() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "evo-worker";
}

std::string seconds_text(std::chrono::milliseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", static_cast<double>(duration.count()) / 1e3);
  return text;
}

}  // namespace evo
