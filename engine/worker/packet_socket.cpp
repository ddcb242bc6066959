#include "engine/worker/packet_socket.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace evo {
namespace {

constexpr std::size_t kLongestPacket = std::size_t{32} << 10;

/// Control data of sendmsg() and recvmsg() with space for one file descriptor.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

}  // namespace

void PacketSocket::send(Packet packet) {
  waiting_.push_back(std::move(packet));
  flush();
}

void PacketSocket::flush() {
  while (!waiting_.empty() && is_open()) {
    std::string text =
        waiting_.front().message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    iovec part{text.data(), text.size()};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    Control control;
    const int descriptor = waiting_.front().descriptor.get();
    if (descriptor >= 0) {
      header.msg_control = control.bytes.data();
      header.msg_controllen = control.bytes.size();
      cmsghdr* first = CMSG_FIRSTHDR(&header);
      first->cmsg_level = SOL_SOCKET;
      first->cmsg_type = SCM_RIGHTS;
      first->cmsg_len = CMSG_LEN(sizeof descriptor);
      std::memcpy(CMSG_DATA(first), &descriptor, sizeof descriptor);
    }
    if (sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return;
      socket_.reset();
      return;
    }
    waiting_.pop_front();
  }
}

std::optional<Packet> PacketSocket::receive() {
  std::string text(kLongestPacket, '\0');
  iovec part{text.data(), text.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  const ssize_t count = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::nullopt;
  Packet packet;
  if (const cmsghdr* first = CMSG_FIRSTHDR(&header); count > 0 && first != nullptr) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(first), sizeof descriptor);
    packet.descriptor = FileDescriptor(descriptor);
  }
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  packet.message = nlohmann::json::parse(text, nullptr, false);
  if (count > 0 && packet.message.is_object()) return packet;
  socket_.reset();
  return std::nullopt;
}

}  // namespace evo
