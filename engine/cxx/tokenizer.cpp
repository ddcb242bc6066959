#include "engine/cxx/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace evo {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads a C++ source text as the first translation phases of C++ do: joins lines that end with a
/// backslash, and skips comments.
class Scanner {
 public:
  /// `words`: receives the tokens outside of preprocessing directives; null if they are not wanted.
  Scanner(std::string_view text, std::vector<CppWord>* words) : text_(text), words_(words) {
    skip_splices();
  }

  std::vector<Directive> run() {
    while (!at_end()) {
      const std::size_t begin = line_begin_;
      const std::size_t first_line = line_;
      skip_blanks_and_comments();
      if (at_end()) break;
      if (peek() == '#' || (peek() == '%' && peek(1) == ':')) {
        take_directive(begin, first_line);
      } else {
        take_line();
      }
    }
    return std::move(directives_);
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char raw(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  [[nodiscard]] std::size_t behind_splices(std::size_t at) const {
    while (raw(at) == '\\') {
      if (raw(at + 1) == '\n') {
        at += 2;
      } else if (raw(at + 1) == '\r' && raw(at + 2) == '\n') {
        at += 3;
      } else {
        break;
      }
    }
    return at;
  }
  void skip_splices() {
    const std::size_t next = behind_splices(at_);
    count_lines(at_, next);
    at_ = next;
  }
  void count_lines(std::size_t from, std::size_t to) {
    line_ +=
        static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(from),
                                            text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    std::size_t at = at_;
    for (std::size_t i = 0; i < ahead; ++i) at = behind_splices(at + 1);
    return raw(at);
  }
  /// Moves to the next character and counts lines.
  char next() {
    const char c = next_raw();
    skip_splices();
    return c;
  }
  char next_raw() {
    const char c = raw(at_++);
    behind_ = at_;
    if (c == '\n') {
      ++line_;
      line_begin_ = at_;
    }
    return c;
  }

  /// Skips a comment, which counts as white space; returns false if no comment begins here. With
  /// `keep_line_begin`, the text after a comment of several lines still belongs to the line in
  /// which the comment begins.
  bool skip_comment(bool keep_line_begin) {
    if (peek() != '/' || (peek(1) != '*' && peek(1) != '/')) return false;
    const std::size_t begin = line_begin_;
    const bool block = peek(1) == '*';
    next();
    next();
    if (!block) {
      while (!at_end() && peek() != '\n') next();
      return true;
    }
    while (!at_end() && !(peek() == '*' && peek(1) == '/')) next();
    next();
    next();
    if (keep_line_begin) line_begin_ = begin;
    return true;
  }

  void skip_blanks_and_comments() {
    while (!at_end()) {
      if (is_blank(peek())) {
        next();
      } else if (!skip_comment(true)) {
        return;
      }
    }
  }

  /// Reads a string or character literal, up to its end or the end of the line.
  void take_quoted(std::string* text) {
    const char quote = next();
    if (text != nullptr) *text += quote;
    while (!at_end() && peek() != '\n') {
      const char c = next();
      if (text != nullptr) *text += c;
      if (c == quote) return;
      if (c == '\\' && !at_end() && peek() != '\n') {
        const char escaped = next();
        if (text != nullptr) *text += escaped;
      }
    }
  }

  /// Reads a raw string R"mark( … )mark", in which escapes, comments and backslashes at the end of
  /// a line have no effect.
  void take_raw_string(std::string* text) {
    const std::size_t begin = at_;
    const std::size_t open = text_.find('(', begin);
    std::size_t end = text_.size();
    if (open != std::string_view::npos) {
      std::string close(")");
      close += text_.substr(begin + 1, open - begin - 1);
      close += '"';
      const std::size_t found = text_.find(close, open);
      if (found != std::string_view::npos) end = found + close.size();
    }
    while (at_ < end) next_raw();
    skip_splices();
    if (text != nullptr) *text += text_.substr(begin, end - begin);
  }

  /// Reads an identifier, or the digits and letters of a number with its digit separators. If the
  /// identifier is the prefix of a raw string, such as R or u8R, reads this string, too.
  void take_word(std::string* text) {
    constexpr std::array<std::string_view, 5> kRaw = {"R", "LR", "uR", "UR", "u8R"};
    const bool number = std::isdigit(static_cast<unsigned char>(peek())) != 0;
    std::string word;
    while (!at_end() && (is_word(peek()) || (number && peek() == '\'' && is_word(peek(1))))) {
      word += next();
    }
    if (text != nullptr) *text += word;
    const bool raw_string = std::find(kRaw.begin(), kRaw.end(), word) != kRaw.end();
    if (raw_string && peek() == '"') take_raw_string(text);
  }

  /// Reads one token, which is not white space or a comment.
  void take_piece(std::string* text) {
    if (is_word(peek())) return take_word(text);
    if (peek() == '"' || peek() == '\'') return take_quoted(text);
    const char c = next();
    if (text != nullptr) *text += c;
    if (c != ':' || peek() != ':') return;
    next();
    if (text != nullptr) *text += ':';
  }

  void take_line() {
    while (!at_end()) {
      if (peek() == '\n') {
        next();
        return;
      }
      if (is_blank(peek())) {
        next();
      } else if (!skip_comment(true)) {
        const std::size_t begin = at_;
        std::string word;
        take_piece(words_ == nullptr ? nullptr : &word);
        if (words_ != nullptr) words_->push_back({std::move(word), begin, behind_});
      }
    }
  }

  void take_directive(std::size_t begin, std::size_t first_line) {
    // If lines without tokens precede a directive, such as those of a comment, its position is that
    // of the `#`, although C++ counts a comment of several lines and the directive as one line.
    const bool behind_comment = first_line != line_;
    Directive directive;
    directive.begin = behind_comment ? at_ : begin;
    directive.line = line_;
    if (next() == '%') next();
    while (!at_end() && peek() != '\n') {
      if (skip_comment(true)) {
        directive.argument += ' ';
      } else if (directive.name.empty() && is_word(peek())) {
        while (is_word(peek())) directive.name += next();
      } else if (directive.name.empty()) {
        next();
      } else {
        take_piece(&directive.argument);
      }
    }
    if (!at_end()) next();
    directive.end = std::min(at_, text_.size());
    directive.lines = std::max<std::size_t>(line_ - directive.line, 1);
    trim(directive.argument);
    directives_.push_back(std::move(directive));
  }

  static void trim(std::string& text) {
    constexpr std::string_view kBlanks = " \t\r\v\f";
    text.erase(0, std::min(text.find_first_not_of(kBlanks), text.size()));
    text.erase(text.find_last_not_of(kBlanks) + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t behind_ = 0;  ///< end of the last character, before backslashes that join lines
  std::size_t line_ = 1;
  std::size_t line_begin_ = 0;
  std::vector<CppWord>* words_;
  std::vector<Directive> directives_;
};

}  // namespace

CppText tokenize(std::string_view text) {
  CppText found;
  found.directives = Scanner(text, &found.words).run();
  return found;
}

std::vector<Directive> directives_of(std::string_view text) { return Scanner(text, nullptr).run(); }

std::vector<std::string> cpp_words(std::string_view text) {
  std::vector<std::string> words;
  for (CppWord& word : tokenize(text).words) words.push_back(std::move(word.text));
  return words;
}

}  // namespace evo
