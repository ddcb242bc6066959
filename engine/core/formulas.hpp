#pragma once

#include <map>
#include <string>
#include <string_view>

namespace evo {

/// Names with the expressions that replace them: the "let" entries of problems and spaces, sizes
/// of a shape, and limits of a device.
using Formulas = std::map<std::string, std::string, std::less<>>;

/// Replaces every name of a formula in `expression` by the formula, recursively. The formula is put
/// in parentheses unless it is a single name or number. Other names stay. Throws InputError for a
/// bad expression, for a formula that uses itself, and for a result that exceeds the length limit
/// of expressions.
[[nodiscard]] std::string with_formulas(std::string_view expression, const Formulas& formulas);

/// The shortest decimal text that gives exactly `value` when it is parsed. Whole numbers up to 2^53
/// have neither decimal point nor exponent.
[[nodiscard]] std::string formula_of(double value);

}  // namespace evo
