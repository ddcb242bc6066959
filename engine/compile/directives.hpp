#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A preprocessor directive: `# define TILE 3` has the name "define" and the rest "TILE 3".
struct Directive {
  std::size_t line = 0;  ///< where it begins, from 1
  std::string name;
  std::string rest;  ///< without comments and continuations
};

/// The directives of a C++ text in their order, whether the preprocessor would reach them or not.
[[nodiscard]] std::vector<Directive> directives_of(std::string_view text);

}  // namespace evo
