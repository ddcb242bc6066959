#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

namespace evo {

/// kMessage: a message between a run and a worker process. kControl: a message between a run or its
/// gateway and the agent that controls the worker process.
enum class FrameKind { kMessage, kControl };

/// Limit of a frame's length in bytes. A greater length means that the stream is corrupt.
inline constexpr std::size_t kLongestFrame = std::size_t{1} << 30;

/// Encodes one message between processes, a JSON value with binary members. Lengths are
/// little-endian.
///
/// | bytes | content                                                                 |
/// |-------|-------------------------------------------------------------------------|
/// | 4     | length of all that follows; the highest bit marks a control message     |
/// | 4     | length of the value in MessagePack                                      |
/// |       | the value in MessagePack, with empty binary members                     |
/// |       | for each binary member, in the order of the value: 4 bytes length, data |
///
/// Binary data follows the value, because nlohmann::json would read binary members slowly, byte by
/// byte.
[[nodiscard]] std::vector<std::uint8_t> encode_frame(nlohmann::json message,
                                                     FrameKind kind = FrameKind::kMessage);

/// Decodes a whole frame that encode_frame() has made. Throws Error if the bytes are not a frame.
[[nodiscard]] nlohmann::json decode_frame(std::span<const std::uint8_t> frame);
[[nodiscard]] FrameKind kind_of(std::span<const std::uint8_t> frame);

/// Divides a stream of bytes into messages.
class FrameReader {
 public:
  /// next() and next_frame() throw Error for a frame of more than `longest` bytes.
  explicit FrameReader(std::size_t longest = kLongestFrame) : longest_(longest) {}
  void set_longest(std::size_t longest) { longest_ = longest; }

  void feed(std::span<const std::uint8_t> bytes);

  /// The next message; nullopt if no message has arrived completely. Throws Error if the bytes are
  /// not a message.
  [[nodiscard]] std::optional<nlohmann::json> next();
  /// The next message as an encoded frame, whose bytes are valid until the next feed().
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> next_frame();

  /// True if at least a part of the next message has arrived.
  [[nodiscard]] bool has_a_part() const { return buffer_.size() > start_; }

 private:
  std::vector<std::uint8_t> buffer_;
  std::size_t start_ = 0;
  std::size_t longest_;
};

/// Converts binary data to a binary member of a JSON value, and back.
[[nodiscard]] nlohmann::json to_binary(const std::string& data);
[[nodiscard]] std::string from_binary(const nlohmann::json& member);

}  // namespace evo
