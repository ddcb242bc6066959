#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A word, number, text or sign of C++, and where it begins.
struct CppWord {
  std::string text;
  std::size_t at = 0;

  [[nodiscard]] std::size_t end() const { return at + text.size(); }
};

/// All words of `text`, without comments and preprocessing directives; what #if leaves out is there
/// as well.
[[nodiscard]] std::vector<CppWord> placed_cpp_words(std::string_view text);

/// The same without their places.
[[nodiscard]] std::vector<std::string> cpp_words(std::string_view text);

}  // namespace evo
