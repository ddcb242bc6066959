#include "engine/core/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/core/error.hpp"
#include "engine/core/expression_grammar.hpp"
#include "engine/core/expression_machine.hpp"

namespace evo {
namespace {

std::string number_text(double value) {
  std::array<char, 40> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

struct Expression::Impl {
  std::string text;
  std::string where;
  std::vector<std::string> names;
  std::vector<double> slots;
  ExpressionMachine machine;

  [[nodiscard]] std::string described() const {
    std::string message = (where.empty() ? "" : where + ": ") + "expression '" + text + "'";
    for (std::size_t i = 0; i < names.size(); ++i) {
      message.append(i == 0 ? " with " : ", ").append(names[i]).append("=");
      message.append(number_text(slots[i]));
    }
    return message;
  }
};

Expression::Expression(std::string text, const std::map<std::string, double>& constants,
                       std::string where)
    : impl_(std::make_unique<Impl>()) {
  impl_->text = std::move(text);
  impl_->where = std::move(where);
  const TranslatedExpression translated = translate_expression(impl_->text, constants);
  impl_->slots.resize(translated.variables.size());
  try {
    for (const auto& [name, number] : translated.variables) {
      impl_->machine.DefineVar(machine_name(number), &impl_->slots[impl_->names.size()]);
      impl_->names.push_back(name);
    }
    impl_->machine.SetExpr(translated.code);
    (void)impl_->machine.run();  // compiles the byte code now
  } catch (const mu::ParserBase::exception_type& error) {
    throw InputError("bad expression '" + impl_->text + "': " + error.GetMsg());
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

const std::string& Expression::text() const { return impl_->text; }
const std::vector<std::string>& Expression::variables() const { return impl_->names; }

std::optional<double> Expression::try_evaluate(std::span<const double> values) const {
  std::copy_n(values.begin(), impl_->slots.size(), impl_->slots.begin());
  const ExpressionMachine::Outcome outcome = impl_->machine.run();
  if (outcome.trouble != nullptr) return std::nullopt;
  return outcome.value;
}

double Expression::evaluate(std::span<const double> values) const {
  std::copy_n(values.begin(), impl_->slots.size(), impl_->slots.begin());
  const ExpressionMachine::Outcome outcome = impl_->machine.run();
  if (outcome.trouble != nullptr) {
    throw InputError(impl_->described() + ": " + outcome.trouble +
                     "; allowed is what gives a finite number");
  }
  return outcome.value;
}

double Expression::evaluate(const std::map<std::string, double>& values) const {
  std::vector<double> ordered;
  ordered.reserve(impl_->names.size());
  for (const std::string& name : impl_->names) {
    const auto found = values.find(name);
    if (found == values.end()) {
      throw InputError((impl_->where.empty() ? "" : impl_->where + ": ") + "expression '" +
                       impl_->text + "' uses '" + name + "', which is not known");
    }
    ordered.push_back(found->second);
  }
  return evaluate(ordered);
}

std::string Expression::described(const std::map<std::string, double>& values) const {
  for (std::size_t i = 0; i < impl_->names.size(); ++i) {
    const auto found = values.find(impl_->names[i]);
    if (found != values.end()) impl_->slots[i] = found->second;
  }
  return impl_->described();
}

std::vector<std::string> split_conjunction(std::string_view expression) {
  return translate_expression(expression, {}).conjuncts;
}

}  // namespace evo
