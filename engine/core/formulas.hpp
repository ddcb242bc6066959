#pragma once

#include <map>
#include <string>
#include <string_view>

namespace evo {

/// Names that stand for expressions: "let" of problems and spaces, numbers of a shape or a device.
using Formulas = std::map<std::string, std::string, std::less<>>;

/// `expression` with the formula of every name in its place, and theirs in turn: in parentheses,
/// unless it is a single name or number. Other names stay. Throws InputError for what no expression
/// may hold, for a formula that needs itself, and for a result beyond the length of an expression.
[[nodiscard]] std::string with_formulas(std::string_view expression, const Formulas& formulas);

/// The shortest text that reads as this very number, whole numbers without a point.
[[nodiscard]] std::string formula_of(double value);

}  // namespace evo
