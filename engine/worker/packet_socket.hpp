#pragma once

#include <poll.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/worker/file_descriptor.hpp"

namespace evo {

/// A message, and the descriptor that was sent with it.
struct Packet {
  nlohmann::json message;
  FileDescriptor descriptor = {};
};

/// Small messages between two processes of this machine, which may carry descriptors.
class PacketSocket {
 public:
  /// `socket`: of type SOCK_SEQPACKET.
  explicit PacketSocket(FileDescriptor socket) : socket_(std::move(socket)) {}

  /// Never blocks: packets for which there is no room now are sent by flush().
  void send(Packet packet);
  void flush();
  /// The next packet, if there is one. Closes the socket if the other side is gone or sends invalid
  /// data.
  [[nodiscard]] std::optional<Packet> receive();

  void close() { socket_.reset(); }
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] pollfd interest() const {
    return {socket_.get(), static_cast<short>(waiting_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }

 private:
  FileDescriptor socket_;
  std::deque<Packet> waiting_;
};

}  // namespace evo
