#include "engine/core/printable.hpp"

#include <cstdint>

namespace evo {
namespace {

/// The length of the UTF-8 sequence at the beginning of `text`; 0 if `text` begins with no valid
/// sequence.
std::size_t sequence_length(std::string_view text) {
  struct Form {
    unsigned char mask, lead;
    std::size_t length;
    std::uint32_t least;
  };
  constexpr Form kForms[] = {
      {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  for (const Form& form : kForms) {
    if ((lead & form.mask) != form.lead || text.size() < form.length) continue;
    std::uint32_t point = lead & static_cast<unsigned char>(~form.mask);
    for (std::size_t i = 1; i < form.length; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xc0) != 0x80) return 0;
      point = (point << 6) | (next & 0x3fU);
    }
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < form.least || point > 0x10ffff || surrogate ? 0 : form.length;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(text.substr(at));
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    if (length == 0 || control) {
      result += "\\x";
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
      ++at;
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  // Ends the text before a UTF-8 character, not within it: all bytes of a character except the
  // first have the form 10xxxxxx.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "…";
}

}  // namespace evo
