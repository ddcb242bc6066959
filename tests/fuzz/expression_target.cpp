#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace evo::fuzz {
namespace {

/// The value of an expression in which every variable is `every_variable`; nullopt if the
/// expression has no value.
std::optional<double> value_of(const Expression& expression, double every_variable) {
  try {
    const double value =
        expression.evaluate(std::vector<double>(expression.variables().size(), every_variable));
    if (!std::isfinite(value)) throw std::logic_error("a value that is not finite");
    return value;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

void run_expression(std::string_view input) {
  const std::map<std::string, double> constants = {{"xor", 1}, {"pad", 2}, {"NONE", 0}};
  try {
    const Expression expression(std::string(input), constants);
    const Expression again(std::string(input), constants);
    for (const double value : {0.0, 1.0, -3.0, 64.0, 0.5, 1e308}) {
      if (value_of(expression, value) != value_of(again, value))
        throw std::logic_error("two evaluations of one expression differ");
    }
  } catch (const InputError&) {
    return;  // no expression: rejected with a message
  }
}

}  // namespace evo::fuzz
