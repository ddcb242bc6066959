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

/// Returns null if `name` is no function.
[[nodiscard]] const ExpressionFunction* find_expression_function(std::string_view name);

/// The names of all functions for messages: "ceil_div, floor_div, …".
[[nodiscard]] std::string expression_functions();

/// A word that cannot be a name, because expressions or another language use it.
struct ExpressionWord {
  std::string_view name;
  std::string_view write;  ///< advice for a message; empty for words that expressions use
};

/// Finds the word `name`, which expressions or another language use; null if there is no such word.
[[nodiscard]] const ExpressionWord* find_expression_word(std::string_view name);

/// Adds the comparison `left` `op` `right`, where `op` is == != < <= > or >=.
[[nodiscard]] ExpressionTree::Node compared(ExpressionTree& tree, std::string_view op,
                                            ExpressionTree::Node left, ExpressionTree::Node right);

/// Adds a call of `function` to `tree`; the caller has checked the number of `arguments`.
[[nodiscard]] ExpressionTree::Node called(ExpressionTree& tree, std::string_view function,
                                          std::span<const ExpressionTree::Node> arguments);

}  // namespace evo
