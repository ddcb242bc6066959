#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

namespace evo {

/// One message between processes: a JSON value with binary members, in the machine's byte order.
///
/// | bytes | what                                                                    |
/// |-------|-------------------------------------------------------------------------|
/// | 4     | length of all that follows                                              |
/// | 4     | length of the next part                                                 |
/// |       | the value as MessagePack; binary members are empty there                |
/// |       | for each binary member, in the order of the value: 4 bytes length, data |
///
/// Binary data stands behind the value because the library's reader takes it byte by byte.
[[nodiscard]] std::vector<std::uint8_t> encode_frame(nlohmann::json message);

/// Cuts a byte stream into messages.
class FrameReader {
 public:
  void feed(std::span<const std::uint8_t> bytes);

  /// The next whole message, or nothing yet. Throws Error on bytes that are no message.
  [[nodiscard]] std::optional<nlohmann::json> next();

  /// Whether the beginning of a message has come, and not its end.
  [[nodiscard]] bool has_a_part() const { return buffer_.size() > start_; }

 private:
  std::vector<std::uint8_t> buffer_;
  std::size_t start_ = 0;
};

/// Binary data as a JSON member and back.
[[nodiscard]] nlohmann::json to_binary(const std::string& data);
[[nodiscard]] std::string from_binary(const nlohmann::json& member);

}  // namespace evo
