#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <span>

#include "engine/worker/file_descriptor.hpp"

namespace evo {

/// A stream of bytes over a file descriptor. No member function blocks.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Returns the number of bytes read; 0 if no bytes are available; nullopt at the stream's end.
  [[nodiscard]] virtual std::optional<std::size_t> read(std::span<std::uint8_t> target) = 0;
  /// Returns the number of bytes written; 0 if the buffer is full; nullopt if the reader has closed
  /// the stream.
  [[nodiscard]] virtual std::optional<std::size_t> write(std::span<const std::uint8_t> bytes) = 0;
  /// The file descriptor and its events for which the caller must wait with ::poll(). `writes`:
  /// whether the caller has bytes to write.
  [[nodiscard]] virtual pollfd interest(bool writes) const = 0;
  /// Tells the reader that no more bytes follow.
  virtual void end_writing() = 0;
  /// True if the peer refused the connection; false if the connection was closed for another
  /// reason.
  [[nodiscard]] virtual bool was_refused() const { return false; }
};

/// A socket without encryption.
class SocketStream final : public ByteStream {
 public:
  explicit SocketStream(FileDescriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] std::optional<std::size_t> read(std::span<std::uint8_t> target) override;
  [[nodiscard]] std::optional<std::size_t> write(std::span<const std::uint8_t> bytes) override;
  [[nodiscard]] pollfd interest(bool writes) const override {
    return {socket_.get(), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0};
  }
  void end_writing() override;

 private:
  FileDescriptor socket_;
};

}  // namespace evo
