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

/// The run's connection to its gateway process (gateway.hpp), through which workers on other hosts
/// connect.
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

  /// Starts `program` as the gateway. Throws InputError if the gateway cannot listen on `address`
  /// ("HOST:PORT"), and MissingError if the gateway does not start.
  WorkerGate(const std::filesystem::path& program, const std::string& address,
             const std::string& key);

  /// Ends the gateway, which tells the workers to end.
  ~WorkerGate();
  WorkerGate(const WorkerGate&) = delete;
  WorkerGate& operator=(const WorkerGate&) = delete;

  /// The address on which the gateway listens, with the actual port.
  [[nodiscard]] const std::string& address() const { return address_; }
  /// The process id of the gateway.
  [[nodiscard]] int process() const { return process_.number(); }
  /// The gateway's next notice about a worker, if one has arrived. Throws MissingError if the
  /// gateway has ended.
  [[nodiscard]] std::optional<Notice> take();
  /// The file descriptor and its events for which the caller must wait with ::poll().
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
  std::map<std::uint64_t, std::shared_ptr<RemoteHost>> hosts_;  ///< by the gateway's worker id
};

}  // namespace evo
