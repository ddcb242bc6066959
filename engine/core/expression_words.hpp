#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/expression_tree.hpp"

namespace evo {

/// A function that expressions may call.
struct ExpressionFunction {
  std::string_view name;
  std::size_t fewest;  ///< number of arguments
  std::size_t most;
  /// nullopt: the function is translated into several operations
  std::optional<Operation> operation = {};
};

/// Returns null for a name that is no function.
[[nodiscard]] const ExpressionFunction* find_expression_function(std::string_view name);

/// "ceil_div, floor_div, …", for messages.
[[nodiscard]] std::string expression_functions();

/// A word that cannot be a name, because this language or another one uses it.
struct ExpressionWord {
  std::string_view name;
  std::string_view write;  ///< the suggested replacement; empty for words of this language
};

/// Returns null for other words.
[[nodiscard]] const ExpressionWord* find_expression_word(std::string_view name);

/// Compares: left `op` right, with `op` one of == != < <= > >=.
[[nodiscard]] ExpressionTree::Node compared(ExpressionTree& tree, std::string_view op,
                                            ExpressionTree::Node left, ExpressionTree::Node right);

/// Calls a function of the grammar. The number of arguments is correct.
[[nodiscard]] ExpressionTree::Node called(ExpressionTree& tree, std::string_view function,
                                          std::span<const ExpressionTree::Node> arguments);

}  // namespace evo
