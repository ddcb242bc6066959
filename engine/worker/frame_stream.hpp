#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/worker/byte_stream.hpp"
#include "engine/worker/frame.hpp"

namespace evo {

/// A process that forwards frames stops reading while more than this number of received bytes are
/// not sent yet.
inline constexpr std::size_t kMostWaitingBytes = std::size_t{4} << 20;

/// Sends and receives frames over a stream of bytes. No member function blocks.
class FrameStream {
 public:
  /// poll() and poll_frame() throw Error if a frame of more than `longest` bytes arrives.
  explicit FrameStream(std::unique_ptr<ByteStream> bytes, std::size_t longest = kLongestFrame)
      : bytes_(std::move(bytes)), reader_(longest) {}

  /// Accepts a message, and sends as much of it as possible now; poll() sends the rest. Returns
  /// is_open(): false only after poll() has detected that the peer closed the connection.
  [[nodiscard]] bool send(nlohmann::json message, FrameKind kind = FrameKind::kMessage);
  /// Like send(), for a message that is already encoded as a frame.
  [[nodiscard]] bool send_frame(std::span<const std::uint8_t> frame);

  /// The next message if it has arrived completely. Also sends waiting bytes. Throws Error if the
  /// bytes are not a message.
  [[nodiscard]] std::optional<nlohmann::json> poll();
  /// Like poll(), but returns the encoded frame, whose bytes are valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> poll_frame();

  /// False once no more bytes can arrive.
  [[nodiscard]] bool is_open() const { return open_; }
  /// True if at least a part of the next message has arrived.
  [[nodiscard]] bool is_answering() const { return reader_.has_a_part(); }
  /// Number of bytes that send() and send_frame() accepted and that are not sent yet.
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() - sent_; }
  /// The file descriptor and its events for which the caller must wait with ::poll().
  [[nodiscard]] pollfd interest() const { return bytes_->interest(waiting_bytes() > 0); }
  void set_longest(std::size_t longest) { reader_.set_longest(longest); }
  /// Tells the peer that no more bytes follow. Accepted bytes that are not sent yet are lost.
  void end_writing() { bytes_->end_writing(); }
  void write_waiting();
  [[nodiscard]] bool was_refused() const { return bytes_->was_refused(); }

 private:
  std::unique_ptr<ByteStream> bytes_;
  bool open_ = true;
  FrameReader reader_;
  std::vector<std::uint8_t> waiting_;
  std::size_t sent_ = 0;  ///< number of bytes of waiting_ that are sent
};

}  // namespace evo
