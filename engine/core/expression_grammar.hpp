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
  std::vector<std::string> variables;  ///< sorted; nodes of the tree contain their indices
  /// The operands of the outermost conjunction, as written, without enclosing parentheses. If the
  /// outermost operation is not a conjunction, the whole expression is the only entry.
  std::vector<std::string> conjuncts;
};

/// Parses an expression by the grammar of docs/file-formats.md. Every text that the grammar does
/// not describe is rejected.
///
///   choice     := or ["?" choice ":" choice]
///   or         := and {("||" | "or") and}
///   and        := not {("&&" | "and") not}
///   not        := "not" not | comparison
///   comparison := sum {("==" | "!=" | "<" | "<=" | ">" | ">=") sum} [["not"] "in" list]
///   list       := "(" choice "," [choice {"," choice} [","]] ")"
///               | "[" choice {"," choice} [","] "]"
///   sum        := product {("+" | "-") product}
///   product    := unary {("*" | "/" | "//" | "%") unary}
///   unary      := ("+" | "-" | "!") unary | power
///   power      := primary [("^" | "**") unary]
///   primary    := number | name | function "(" choice {"," choice} ")" | "(" choice ")"
///
/// Throws InputError with the position and, for frequent mistakes, a suggestion. `constants`: names
/// that become numbers; every other name becomes a variable.
[[nodiscard]] ParsedExpression parse_expression(std::string_view expression,
                                                const std::map<std::string, double>& constants);

/// Parses `expression` and translates it to JSON, for programs that load bundles and do not contain
/// this parser: a number, a variable's name, or ["operation", operands…]. The operations are ?
/// (chooses one of two values by a condition) == < + - * / // % ^ and the functions min max floor
/// ceil round sqrt exp ln log2, with the same meaning as in Expression. All other operations of
/// Expression are translated into the listed ones.
[[nodiscard]] std::string translate_expression(std::string_view expression,
                                               const std::map<std::string, double>& constants);

}  // namespace evo
