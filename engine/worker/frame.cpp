#include "engine/worker/frame.hpp"

#include <functional>
#include <string>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Span = std::span<const std::uint8_t>;

constexpr std::uint32_t kControlBit = 1U << 31;
constexpr std::size_t kLengthBytes = 4;
constexpr int kDeepest = 64;  // limit of the nesting of lists and objects

/// Parses a message without storing it, and stops if lists and objects are nested too deeply. The
/// parser of nlohmann::json recurses for each nesting level, and a level needs only one byte of a
/// message, so without this check a small message could exhaust the stack.
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

Error no_message(const std::string& why) {
  return Error(ExitCode::kMissing, "a worker sent an invalid message: " + why);
}

/// Calls `visit` with each binary member of the JSON value `value`, in order.
void for_each_binary(nlohmann::json& value, const std::function<void(Bytes&)>& visit) {
  if (value.is_binary()) {
    visit(value.get_binary());
  } else if (value.is_structured()) {
    for (nlohmann::json& member : value) for_each_binary(member, visit);
  }
}

void write_word(std::uint32_t word, std::uint8_t* target) {
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    target[i] = static_cast<std::uint8_t>(word >> (8 * i));
  }
}

void write_length(std::size_t length, std::uint8_t* target) {
  if (length > kLongestFrame) throw no_message("it is too long");
  write_word(static_cast<std::uint32_t>(length), target);
}

std::uint32_t read_word(Span bytes) {
  if (bytes.size() < kLengthBytes) throw no_message("a part is missing");
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) word |= std::uint32_t{bytes[i]} << (8 * i);
  return word;
}

/// Removes the next part of a frame and the part's length field from the front of `rest`. Returns
/// the part.
Span take_part(Span& rest) {
  const std::uint32_t size = read_word(rest);
  rest = rest.subspan(kLengthBytes);
  if (size > rest.size()) throw no_message("a part is missing");
  const Span part = rest.first(size);
  rest = rest.subspan(size);
  return part;
}

nlohmann::json read_value(Span bytes) {
  NestingCheck nesting;
  (void)nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &nesting,
                                  nlohmann::json::input_format_t::msgpack);
  if (nesting.too_deep()) {
    throw no_message("more than " + std::to_string(kDeepest) + " levels of nesting");
  }
  try {
    return nlohmann::json::from_msgpack(bytes.begin(), bytes.end());
  } catch (const nlohmann::json::exception& error) {
    throw no_message(error.what());
  }
}

}  // namespace

std::vector<std::uint8_t> encode_frame(nlohmann::json message, FrameKind kind) {
  std::vector<Bytes> attachments;
  for_each_binary(message,
                  [&](Bytes& content) { attachments.push_back(std::exchange(content, {})); });
  Bytes frame(2 * kLengthBytes);
  nlohmann::json::to_msgpack(message, frame);
  write_length(frame.size() - 2 * kLengthBytes, frame.data() + kLengthBytes);
  for (const Bytes& content : attachments) {
    const std::size_t at = frame.size();
    frame.resize(at + kLengthBytes);
    write_length(content.size(), frame.data() + at);
    frame.insert(frame.end(), content.begin(), content.end());
  }
  write_length(frame.size() - kLengthBytes, frame.data());
  if (kind == FrameKind::kControl) write_word(read_word(frame) | kControlBit, frame.data());
  return frame;
}

nlohmann::json decode_frame(Span frame) {
  Span rest = frame.subspan(kLengthBytes);
  nlohmann::json message = read_value(take_part(rest));
  for_each_binary(message, [&](Bytes& content) {
    const Span part = take_part(rest);
    content.assign(part.begin(), part.end());
  });
  if (!rest.empty()) throw no_message("it is longer than its parts");
  return message;
}

FrameKind kind_of(Span frame) {
  return (read_word(frame) & kControlBit) != 0 ? FrameKind::kControl : FrameKind::kMessage;
}

void FrameReader::feed(std::span<const std::uint8_t> bytes) {
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(start_));
    start_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<Span> FrameReader::next_frame() {
  const Span rest = Span(buffer_).subspan(start_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  const std::size_t size = read_word(rest) & ~kControlBit;
  if (size > longest_) throw no_message("it is too long");
  if (rest.size() - kLengthBytes < size) return std::nullopt;
  start_ += kLengthBytes + size;
  return rest.first(kLengthBytes + size);
}

std::optional<nlohmann::json> FrameReader::next() {
  const auto frame = next_frame();
  if (!frame) return std::nullopt;
  return decode_frame(*frame);
}

nlohmann::json to_binary(const std::string& data) {
  return nlohmann::json::binary(std::vector<std::uint8_t>(data.begin(), data.end()));
}

std::string from_binary(const nlohmann::json& member) {
  const auto& bytes = member.get_binary();
  return {bytes.begin(), bytes.end()};
}

}  // namespace evo
