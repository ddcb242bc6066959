#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/expression_tree.hpp"

namespace evo {

/// An expression as it was read.
struct ParsedExpression {
  ExpressionTree tree;
  ExpressionTree::Node root = 0;
  std::vector<std::string> variables;  ///< sorted; their numbers in the tree
  /// The operands of the outermost conjunction, as written, without the parentheses around them;
  /// the whole expression where the outermost operator is another one.
  std::vector<std::string> conjuncts;
};

/// An expression for readers without this grammar.
struct TranslatedExpression {
  /// JSON: a number, a variable's name, or ["operation", operands…] with the operations ?
  /// (condition, two values of which one counts) == < + - * / // % ^ and the functions min max
  /// floor ceil round sqrt exp ln log2, as Expression has them. Everything else is written in
  /// these.
  std::string tree;
};

/// Reads an expression by the grammar of docs/file-formats.md. There is no text that it accepts
/// with another meaning than the documented one:
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

/// The same, translated.
[[nodiscard]] TranslatedExpression translate_expression(
    std::string_view expression, const std::map<std::string, double>& constants);

}  // namespace evo
