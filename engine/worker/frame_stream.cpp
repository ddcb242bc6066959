#include "engine/worker/frame_stream.hpp"

#include <array>

namespace evo {

bool FrameStream::send(nlohmann::json message, FrameKind kind) {
  return send_frame(encode_frame(std::move(message), kind));
}

bool FrameStream::send_frame(std::span<const std::uint8_t> frame) {
  waiting_.insert(waiting_.end(), frame.begin(), frame.end());
  write_waiting();
  return open_;
}

void FrameStream::write_waiting() {
  while (open_ && sent_ < waiting_.size()) {
    const auto count = bytes_->write(std::span(waiting_).subspan(sent_));
    if (!count) break;  // the peer closed the connection; an answer may have arrived
    if (*count == 0) return;
    sent_ += *count;
  }
  waiting_.clear();
  sent_ = 0;
}

/// Returns the next frame. Stops reading when a whole frame has arrived, to limit the memory for
/// received bytes.
std::optional<std::span<const std::uint8_t>> FrameStream::poll_frame() {
  write_waiting();
  std::array<std::uint8_t, 65536> chunk{};
  while (true) {
    if (const auto frame = reader_.next_frame()) return frame;
    if (!open_) return std::nullopt;
    const auto count = bytes_->read(chunk);
    if (count && *count == 0) return std::nullopt;
    if (count) {
      reader_.feed({chunk.data(), *count});
    } else {
      open_ = false;
    }
  }
}

std::optional<nlohmann::json> FrameStream::poll() {
  const auto frame = poll_frame();
  if (!frame) return std::nullopt;
  return decode_frame(*frame);
}

}  // namespace evo
