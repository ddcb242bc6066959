#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A name, number, literal or sign of C++, and where it stands in the text.
struct CppWord {
  std::string text;  ///< in one piece, also where a spliced line cuts it
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A preprocessing directive of a C++ source: `#include "x.cuh" // why`.
struct Directive {
  std::size_t begin = 0;  ///< of its line in the text
  std::size_t end = 0;    ///< behind the end of its last line
  std::size_t line = 1;   ///< number of its first line
  std::size_t lines = 1;  ///< how many lines it takes
  std::string name;       ///< "include"
  std::string argument;   ///< the rest, without comments, spliced lines and blanks at the ends
};

/// A C++ source as the first phases of translation see it: comments count as blanks, lines that end
/// with a backslash go on, and nothing in a literal means anything. What #if leaves out is there as
/// well. Any text is read.
struct CppText {
  std::vector<CppWord> words;  ///< outside of directives
  std::vector<Directive> directives;
};

[[nodiscard]] CppText tokenize(std::string_view text);

/// The directives alone, in less time.
[[nodiscard]] std::vector<Directive> directives_of(std::string_view text);

/// The texts of the words alone.
[[nodiscard]] std::vector<std::string> cpp_words(std::string_view text);

}  // namespace evo
