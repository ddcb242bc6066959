#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo::ptx {

struct Token {
  enum class Kind : unsigned char { kWord, kDirective, kNumber, kString, kPunctuation, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< into the text that was split
  int line = 0;           ///< from 1
};

/// Splits PTX into tokens; the last is kEnd. Opcodes with their modifiers ("ld.global.f32") and
/// special registers ("%tid.x") are one word; directives (".reg.b32") are cut at every dot.
/// `text` must outlive the tokens. Throws PtxError for a character PTX does not have.
[[nodiscard]] std::vector<Token> split_tokens(std::string_view text);

}  // namespace evo::ptx
