#pragma once

#include <poll.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/worker/file_descriptor.hpp"

namespace evo {

/// A message between two processes, and optionally a file descriptor that is passed with the
/// message.
struct Packet {
  nlohmann::json message;
  FileDescriptor descriptor = {};
};

/// Exchanges small messages and file descriptors between two processes of one machine.
class PacketSocket {
 public:
  /// `socket`: a socket of type SOCK_SEQPACKET.
  explicit PacketSocket(FileDescriptor socket) : socket_(std::move(socket)) {}

  /// Sends a packet without blocking. If the socket's buffer is full, a later call of flush() sends
  /// the packet.
  void send(Packet packet);
  void flush();
  /// The next packet, if one has arrived. Closes the socket if the peer has closed it or sends
  /// invalid data.
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
