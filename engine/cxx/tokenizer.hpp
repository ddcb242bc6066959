#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A name, number, literal or operator of C++ with its position in the text.
struct CppWord {
  std::string text;  ///< without the backslashes that join lines
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A preprocessing directive of a C++ source, such as `#include "x.cuh" // why`.
struct Directive {
  std::size_t begin = 0;  ///< where its first line begins in the text
  std::size_t end = 0;    ///< end of its last line
  std::size_t line = 1;   ///< number of its first line
  std::size_t lines = 1;  ///< number of lines
  std::string name;       ///< for example "include"
  /// the rest of the line, without comments, joins of lines, and surrounding white space
  std::string argument;
};

/// A C++ source after the first translation phases: comments count as white space, lines that end
/// with a backslash are joined, and literals are not interpreted. Text that #if excludes is
/// included. Every text is accepted.
struct CppText {
  std::vector<CppWord> words;  ///< words outside of directives
  std::vector<Directive> directives;
};

[[nodiscard]] CppText tokenize(std::string_view text);

/// Finds only the directives, which is faster than tokenize().
[[nodiscard]] std::vector<Directive> directives_of(std::string_view text);

/// The words of a text, without their positions.
[[nodiscard]] std::vector<std::string> cpp_words(std::string_view text);

}  // namespace evo
