#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// A function that expressions may call.
struct ExpressionFunction {
  std::string_view name;
  std::size_t fewest;  ///< arguments
  std::size_t most;
  bool can_fail;  ///< has arguments without a value
};

/// Null for other names.
[[nodiscard]] const ExpressionFunction* find_expression_function(std::string_view name);

/// "ceil_div, floor_div, …", for messages.
[[nodiscard]] std::string expression_functions();

/// A word that is no name: of the language, or of another one.
struct ExpressionWord {
  std::string_view name;
  std::string_view write;  ///< what to write instead; empty for words of the language
};

/// Null for other names.
[[nodiscard]] const ExpressionWord* find_expression_word(std::string_view name);

}  // namespace evo
