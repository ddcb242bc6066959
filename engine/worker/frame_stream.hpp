#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/worker/byte_stream.hpp"
#include "engine/worker/frame.hpp"

namespace evo {

/// Reading pauses while the receiving side has more than this many bytes still to read.
inline constexpr std::size_t kMostWaitingBytes = std::size_t{4} << 20;

/// Frames over a stream of bytes. No member blocks.
class FrameStream {
 public:
  /// Longer frames than `longest` bytes are an error.
  explicit FrameStream(std::unique_ptr<ByteStream> bytes, std::size_t longest = kLongestFrame)
      : bytes_(std::move(bytes)), reader_(longest) {}

  /// Takes one whole message. poll() sends the part that cannot be sent now. False if the other
  /// side is gone.
  [[nodiscard]] bool send(nlohmann::json message, FrameKind kind = FrameKind::kMessage);
  /// The same for a frame that is encoded already.
  [[nodiscard]] bool send_frame(std::span<const std::uint8_t> frame);

  /// The next message if a whole one has arrived; sends waiting bytes. Throws Error on bytes that
  /// are no message.
  [[nodiscard]] std::optional<nlohmann::json> poll();
  /// The same without decoding; the bytes are valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> poll_frame();

  /// False once no more bytes can arrive.
  [[nodiscard]] bool is_open() const { return open_; }
  /// Whether a message has begun to arrive.
  [[nodiscard]] bool is_answering() const { return reader_.has_a_part(); }
  /// Number of accepted bytes that are not sent yet.
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() - sent_; }
  /// The descriptor and events for ::poll().
  [[nodiscard]] pollfd interest() const { return bytes_->interest(waiting_bytes() > 0); }
  void set_longest(std::size_t longest) { reader_.set_longest(longest); }
  /// Announces the end of the stream after all waiting bytes were sent.
  void end_writing() { bytes_->end_writing(); }
  void write_waiting();
  [[nodiscard]] bool was_refused() const { return bytes_->was_refused(); }

 private:
  std::unique_ptr<ByteStream> bytes_;
  bool open_ = true;
  FrameReader reader_;
  std::vector<std::uint8_t> waiting_;
  std::size_t sent_ = 0;  ///< bytes of waiting_
};

}  // namespace evo
