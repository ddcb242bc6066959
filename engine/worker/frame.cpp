#include "engine/worker/frame.hpp"

#include <cstring>
#include <string>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr std::uint32_t kLongestMessage = 1U << 30;  // a length beyond it is a corrupt stream
constexpr int kDeepest = 64;                         // lists and objects within each other

/// Reads without keeping anything, and stops where a message is nested too deeply: the library's
/// reader calls itself for every level, a byte each.
class NestingCheck final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return ++depth_ <= kDeepest; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t /*elements*/) override { return ++depth_ <= kDeepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }
  [[nodiscard]] bool too_deep() const { return depth_ > kDeepest; }

 private:
  int depth_ = 0;
};

}  // namespace

std::vector<std::uint8_t> encode_frame(const nlohmann::json& message) {
  std::vector<std::uint8_t> frame(sizeof(std::uint32_t));
  nlohmann::json::to_msgpack(message, frame);
  const auto size = static_cast<std::uint32_t>(frame.size() - sizeof(std::uint32_t));
  std::memcpy(frame.data(), &size, sizeof size);
  return frame;
}

void FrameReader::feed(std::span<const std::uint8_t> bytes) {
  if (start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<nlohmann::json> FrameReader::next() {
  std::uint32_t size = 0;
  const std::size_t available = buffer_.size() - start_;
  if (available < sizeof size) return std::nullopt;
  std::memcpy(&size, buffer_.data() + start_, sizeof size);
  if (size > kLongestMessage) throw Error(ExitCode::kMissing, "a worker sent no valid message");
  if (available - sizeof size < size) return std::nullopt;
  const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(start_ + sizeof size);
  start_ += sizeof size + size;
  NestingCheck nesting;
  (void)nlohmann::json::sax_parse(begin, begin + size, &nesting,
                                  nlohmann::json::input_format_t::msgpack);
  if (nesting.too_deep()) {
    throw Error(ExitCode::kMissing, "a worker sent no valid message: more than " +
                                        std::to_string(kDeepest) + " levels within each other");
  }
  try {
    return nlohmann::json::from_msgpack(begin, begin + size);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::kMissing, std::string("a worker sent no valid message: ") + error.what());
  }
}

nlohmann::json to_binary(const std::string& data) {
  return nlohmann::json::binary(std::vector<std::uint8_t>(data.begin(), data.end()));
}

std::string from_binary(const nlohmann::json& member) {
  const auto& bytes = member.get_binary();
  return {bytes.begin(), bytes.end()};
}

}  // namespace evo
