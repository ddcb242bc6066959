#include "engine/core/expression.hpp"

#include <array>
#include <charconv>

#include "engine/core/error.hpp"

namespace evo {
namespace {

std::string number_text(double value) {
  std::array<char, 40> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Appends the value of a variable to an error message: " with A=1" for the first, then ", B=2".
void append_value(std::string& message, bool is_first, const std::string& name, double value) {
  message.append(is_first ? " with " : ", ").append(name).append("=").append(number_text(value));
}

}  // namespace

Expression::Expression(std::string text, const std::map<std::string, double>& constants,
                       std::string where)
    : text_(std::move(text)),
      where_(std::move(where)),
      parsed_(parse_expression(text_, constants)) {}

std::string Expression::prefix() const {
  return (where_.empty() ? "" : where_ + ": ") + "expression '" + text_ + "'";
}

std::optional<double> Expression::try_evaluate(std::span<const double> values) const {
  const ExpressionTree::Outcome outcome = parsed_.tree.evaluate(parsed_.root, values);
  if (outcome.trouble != nullptr) return std::nullopt;
  return outcome.value;
}

double Expression::evaluate(std::span<const double> values) const {
  const ExpressionTree::Outcome outcome = parsed_.tree.evaluate(parsed_.root, values);
  if (outcome.trouble == nullptr) return outcome.value;
  std::string message = prefix();
  for (std::size_t i = 0; i < variables().size(); ++i) {
    append_value(message, i == 0, variables()[i], values[i]);
  }
  throw InputError(message + ": " + outcome.trouble +
                   "; allowed: values that give a finite number");
}

double Expression::evaluate(const std::map<std::string, double>& values) const {
  std::vector<double> ordered;
  ordered.reserve(variables().size());
  for (const std::string& name : variables()) {
    const auto found = values.find(name);
    if (found == values.end()) {
      throw InputError(prefix() + " uses '" + name + "', which is no known name");
    }
    ordered.push_back(found->second);
  }
  return evaluate(ordered);
}

std::string Expression::described(const std::map<std::string, double>& values) const {
  std::string message = prefix();
  bool is_first = true;
  for (const std::string& name : variables()) {
    const auto found = values.find(name);
    if (found == values.end()) continue;
    append_value(message, is_first, name, found->second);
    is_first = false;
  }
  return message;
}

std::vector<std::string> split_conjunction(std::string_view expression) {
  return parse_expression(expression, {}).conjuncts;
}

}  // namespace evo
