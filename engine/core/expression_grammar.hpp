#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// An expression as ExpressionMachine runs it.
struct TranslatedExpression {
  std::string code;                              ///< in the machine's names and functions
  std::map<std::string, std::size_t> variables;  ///< name → number, see machine_name()
  /// The operands of the outermost conjunction, as written, without the parentheses around them;
  /// the whole expression where the outermost operator is another one.
  std::vector<std::string> conjuncts;
  /// JSON that a reader evaluates without this grammar: a number, a variable's name, or
  /// ["operation", operands…] with the operations ? (condition, two values of which one counts)
  /// == < + - * / // % ^ and the functions min max floor ceil round sqrt exp ln log2, as Expression
  /// has them. Everything else is written in these.
  std::string tree;
};

/// "v3": what the machine calls variable 3, whatever its name is in the expression.
[[nodiscard]] std::string machine_name(std::size_t variable);

/// Reads an expression by the grammar of docs/file-formats.md and translates it. There is no text
/// that it accepts with another meaning than the documented one:
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
[[nodiscard]] TranslatedExpression translate_expression(
    std::string_view expression, const std::map<std::string, double>& constants);

}  // namespace evo
