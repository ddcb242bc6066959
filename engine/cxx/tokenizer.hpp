#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A token and its byte offsets in the source text. A token is an identifier, a number up to the
/// first `.` or sign, a string or character literal without its encoding prefix, a raw string,
/// `::`, or one other character; so `->` and `1.5` are split.
struct CppWord {
  std::string text;  ///< without the backslashes that join lines
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A preprocessing directive of a C++ source, such as `#include "x.cuh" // why`.
struct Directive {
  /// offset of its first line or, if lines without tokens precede the directive, of the `#`
  std::size_t begin = 0;
  std::size_t end = 0;    ///< offset after its last line and that line's newline
  std::size_t line = 1;   ///< number of its first line
  std::size_t lines = 1;  ///< number of lines
  std::string name;       ///< for example "include"
  /// the text after the name, as one line without comments and surrounding white space
  std::string argument;
};

/// A C++ source after the first translation phases: comments count as white space, lines that end
/// with a backslash are joined, and literals are not interpreted. Conditions are not evaluated, so
/// tokens and directives that an #if excludes are listed, too. tokenize() accepts every text.
struct CppText {
  std::vector<CppWord> words;  ///< tokens outside of directives
  std::vector<Directive> directives;
};

[[nodiscard]] CppText tokenize(std::string_view text);

/// Finds only the directives, which is faster than tokenize().
[[nodiscard]] std::vector<Directive> directives_of(std::string_view text);

/// Returns the tokens of a C++ text outside of directives, without their positions.
[[nodiscard]] std::vector<std::string> cpp_words(std::string_view text);

}  // namespace evo
