#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/expression_tree.hpp"

namespace evo {

/// A parsed expression.
struct ParsedExpression {
  ExpressionTree tree;
  ExpressionTree::Node root = 0;
  std::vector<std::string> variables;  ///< sorted; the tree refers to them by index
  /// The operands of the outermost conjunction, as written, without enclosing parentheses. An
  /// expression with another outermost operator is returned whole.
  std::vector<std::string> conjuncts;
};

/// The expression in a small language for programs that do not have this parser.
struct TranslatedExpression {
  /// JSON: a number, a variable's name, or ["operation", operands…] with the operations ?
  /// (condition, two values of which one is chosen) == < + - * / // % ^ and the functions min max
  /// floor ceil round sqrt exp ln log2, which mean the same as in Expression. All other operations
  /// are translated into these.
  std::string tree;
};

/// Reads an expression by the grammar of docs/file-formats.md. It rejects every text that is not
/// described there:
///
///   choice     := or ["?" choice ":" choice]
///   or         := and {("||" | "or") and}
///   and        := not {("&&" | "and") not}
///   not        := "not" not | comparison
///   comparison := sum {("==" | "!=" | "<" | "<=" | ">" | ">=") sum | ["not"] "in" list}
///   list       := "(" choice "," [choice {"," choice}] ")" | "[" choice {"," choice} "]"
///   sum        := product {("+" | "-") product}
///   product    := unary {("*" | "/" | "//" | "%") unary}
///   unary      := ("+" | "-" | "!") unary | power
///   power      := primary [("^" | "**") unary]
///   primary    := number | name | function "(" choice {"," choice} ")" | "(" choice ")"
///
/// Throws InputError with the position and what to write.
[[nodiscard]] ParsedExpression parse_expression(std::string_view expression,
                                                const std::map<std::string, double>& constants);

/// Parses and translates in one step.
[[nodiscard]] TranslatedExpression translate_expression(
    std::string_view expression, const std::map<std::string, double>& constants);

}  // namespace evo
