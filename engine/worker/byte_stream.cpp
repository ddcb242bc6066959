#include "engine/worker/byte_stream.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace evo {
namespace {

/// Converts the result of a non-blocking recv() or send() to the result of ByteStream::read() or
/// ByteStream::write().
std::optional<std::size_t> counted(ssize_t count) {
  if (count > 0) return static_cast<std::size_t>(count);
  const bool is_for_now = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return is_for_now ? std::optional<std::size_t>(0) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> SocketStream::read(std::span<std::uint8_t> target) {
  ssize_t count = 0;
  while ((count = recv(socket_.get(), target.data(), target.size(), MSG_DONTWAIT)) < 0 &&
         errno == EINTR) {
  }
  return counted(count);
}

std::optional<std::size_t> SocketStream::write(std::span<const std::uint8_t> bytes) {
  ssize_t count = 0;
  while ((count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)) <
             0 &&
         errno == EINTR) {
  }
  return counted(count);
}

void SocketStream::end_writing() { shutdown(socket_.get(), SHUT_WR); }

}  // namespace evo
