#include "engine/compile/directives.hpp"

#include <algorithm>
#include <cctype>

namespace evo {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A text with continued lines joined, and the line each character comes from.
struct Joined {
  explicit Joined(std::string_view source) {
    std::size_t line = 1;
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::string_view rest = source.substr(i);
      if (rest.starts_with("\\\n") || rest.starts_with("\\\r\n")) {
        i += rest[1] == '\n' ? 1 : 2;
        ++line;
        continue;
      }
      text += source[i];
      line_of.push_back(line);
      line += source[i] == '\n' ? 1 : 0;
    }
  }

  std::string text;
  std::vector<std::size_t> line_of;
};

/// A text without comments; literals are kept as they are.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : joined_(text), text_(joined_.text) {}

  /// Every line of the text in turn: a continued line is one, a comment a blank.
  [[nodiscard]] std::vector<Directive> lines() {
    while (at_ < text_.size()) step();
    end_line();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool sees(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }
  void take(std::size_t count) { at_ = std::min(at_ + count, text_.size()); }
  void keep(std::size_t count) {
    line_ += text_.substr(at_, count);
    take(count);
  }
  void end_line() {
    const std::size_t number = begin_ < text_.size() ? joined_.line_of[begin_] : 0;
    lines_.push_back({number, {}, std::move(line_)});
    line_.clear();
    begin_ = at_;
  }

  void step() {
    if (sees("\n")) {
      take(1);
      return end_line();
    }
    if (sees("//")) return take(std::min(text_.find('\n', at_), text_.size()) - at_);
    if (sees("/*")) return block_comment();
    if (sees("\"")) return is_raw() ? raw_string() : literal('"');
    if (sees("'") && (line_.empty() || !is_word(line_.back()) || is_prefix())) return literal('\'');
    keep(1);
  }

  void block_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    take(end == std::string_view::npos ? text_.size() : end + 2 - at_);
    line_ += ' ';
  }

  /// Ends at the quote, or at the end of the line where the quote is missing.
  void literal(char quote) {
    keep(1);
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != quote) {
      keep(text_[at_] == '\\' ? 2 : 1);
    }
    if (at_ < text_.size() && text_[at_] == quote) keep(1);
  }

  /// The word right before the quote: R, u8R, L…
  [[nodiscard]] std::string_view word_before() const {
    std::size_t begin = line_.size();
    while (begin > 0 && is_word(line_[begin - 1])) --begin;
    return std::string_view(line_).substr(begin);
  }
  [[nodiscard]] bool is_raw() const {
    const std::string_view word = word_before();
    return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
  }
  /// Of a character; otherwise the quote separates digits.
  [[nodiscard]] bool is_prefix() const {
    const std::string_view word = word_before();
    return word == "u8" || word == "u" || word == "U" || word == "L";
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return keep(1);
    std::string close = ")";
    close.append(text_.substr(at_ + 1, open - at_ - 1)).append("\"");
    const std::size_t end = text_.find(close, open);
    take(end == std::string_view::npos ? text_.size() : end + close.size() - at_);
    line_ += "\"\"";
  }

  Joined joined_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  ///< of the line
  std::string line_;
  std::vector<Directive> lines_;
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\f\v");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\f\v") - first + 1);
}

}  // namespace

std::vector<Directive> directives_of(std::string_view text) {
  std::vector<Directive> directives;
  for (Directive& line : Stripper(text).lines()) {
    std::string_view rest = trimmed(line.rest);
    if (rest.starts_with("#")) {
      rest.remove_prefix(1);
    } else if (rest.starts_with("%:")) {  // the digraph of #
      rest.remove_prefix(2);
    } else {
      continue;
    }
    rest = trimmed(rest);
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
    const auto length = static_cast<std::size_t>(end - rest.begin());
    directives.push_back({line.line, std::string(rest.substr(0, length)),
                          std::string(trimmed(rest.substr(length)))});
  }
  return directives;
}

}  // namespace evo
