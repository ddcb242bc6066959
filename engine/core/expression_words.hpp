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
  std::size_t fewest;  ///< arguments
  std::size_t most;
  /// Nothing: it is written in several.
  std::optional<Operation> operation = {};
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

/// left `op` right, one of == != < <= > >=.
[[nodiscard]] ExpressionTree::Node compared(ExpressionTree& tree, std::string_view op,
                                            ExpressionTree::Node left, ExpressionTree::Node right);

/// A function of the grammar, called with as many arguments as it takes.
[[nodiscard]] ExpressionTree::Node called(ExpressionTree& tree, std::string_view function,
                                          std::span<const ExpressionTree::Node> arguments);

}  // namespace evo
