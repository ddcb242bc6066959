#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/worker/byte_stream.hpp"
#include "engine/worker/frame.hpp"

namespace evo {

/// Nothing more is read for a side that has so much to take.
inline constexpr std::size_t kMostWaitingBytes = std::size_t{4} << 20;

/// Frames over a stream of bytes. Nothing here ever waits.
class FrameStream {
 public:
  /// Longer frames than `longest` bytes are an error.
  explicit FrameStream(std::unique_ptr<ByteStream> bytes, std::size_t longest = kLongestFrame)
      : bytes_(std::move(bytes)), reader_(longest) {}

  /// Takes one message, whole; the part that does not go out now goes out in poll(). False when the
  /// other side is gone.
  [[nodiscard]] bool send(nlohmann::json message, FrameKind kind = FrameKind::kMessage);
  /// The same for a frame that is encoded already.
  [[nodiscard]] bool send_frame(std::span<const std::uint8_t> frame);

  /// The next message if one has arrived whole; sends what is waiting. Throws Error on bytes that
  /// are no message.
  [[nodiscard]] std::optional<nlohmann::json> poll();
  /// The same, not decoded; the bytes stay until the next call.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> poll_frame();

  /// False once nothing more can come.
  [[nodiscard]] bool is_open() const { return open_; }
  /// Whether a message has begun to arrive.
  [[nodiscard]] bool is_answering() const { return reader_.has_a_part(); }
  /// Bytes that were taken and did not go out yet.
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() - sent_; }
  /// What to wait for with ::poll().
  [[nodiscard]] pollfd interest() const { return bytes_->interest(waiting_bytes() > 0); }
  void set_longest(std::size_t longest) { reader_.set_longest(longest); }
  /// Says that nothing more comes, once all that is waiting has gone out.
  void end_writing() { bytes_->end_writing(); }
  void write_waiting();
  [[nodiscard]] bool was_refused() const { return bytes_->was_refused(); }

 private:
  std::unique_ptr<ByteStream> bytes_;
  bool open_ = true;
  FrameReader reader_;
  std::vector<std::uint8_t> waiting_;
  std::size_t sent_ = 0;  ///< of it
};

}  // namespace evo
