#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "engine/worker/child_process.hpp"
#include "engine/worker/packet_socket.hpp"
#include "engine/worker/remote_host.hpp"

namespace evo {

/// The run's side of a gateway (gateway.hpp): where workers of other hosts come in.
class WorkerGate {
 public:
  struct Joined {
    std::shared_ptr<RemoteHost> host;
  };
  struct Left {
    std::shared_ptr<RemoteHost> host;
    std::string why;
  };
  struct Refused {
    std::string text;
  };
  using Notice = std::variant<Joined, Left, Refused>;

  /// Starts `program` as the gateway. Throws InputError where it cannot listen to `address`,
  /// "HOST:PORT", and MissingError where it does not start.
  WorkerGate(const std::filesystem::path& program, const std::string& address,
             const std::string& key);

  /// The workers end themselves.
  ~WorkerGate();
  WorkerGate(const WorkerGate&) = delete;
  WorkerGate& operator=(const WorkerGate&) = delete;

  /// Where it listens, with the port that it got.
  [[nodiscard]] const std::string& address() const { return address_; }
  /// The number of the gateway's process.
  [[nodiscard]] int process() const { return process_.number(); }
  /// The next thing that happened, if there is one. Throws MissingError when the gateway is gone.
  [[nodiscard]] std::optional<Notice> take();
  /// What to wait for with ::poll().
  [[nodiscard]] pollfd interest() const { return packets_.interest(); }

 private:
  struct Started {
    PacketSocket packets;
    ChildProcess process;
  };
  [[nodiscard]] static Started start(const std::filesystem::path& program);
  explicit WorkerGate(Started started)
      : packets_(std::move(started.packets)), process_(std::move(started.process)) {}
  [[nodiscard]] std::optional<Notice> notice_of(Packet packet);

  PacketSocket packets_;
  ChildProcess process_;
  std::string address_;
  std::map<std::uint64_t, std::shared_ptr<RemoteHost>> hosts_;  ///< by the gateway's number
};

}  // namespace evo
