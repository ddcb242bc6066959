#include "engine/core/expression.hpp"

#include <muParser.h>

#include <cmath>

#include "engine/core/error.hpp"

namespace evo {
namespace {

double ceil_div(double a, double b) { return std::ceil(a / b); }
double floor_div(double a, double b) { return std::floor(a / b); }
double align_up(double a, double multiple) { return std::ceil(a / multiple) * multiple; }
double modulo(double a, double b) { return a - b * std::floor(a / b); }
double logical_not(double a) { return a == 0.0 ? 1.0 : 0.0; }
double floor_of(double a) { return std::floor(a); }
double ceil_of(double a) { return std::ceil(a); }
double round_of(double a) { return std::round(a); }

double is_pow2(double a) {
  int exponent = 0;
  return a >= 1.0 && std::frexp(a, &exponent) == 0.5 ? 1.0 : 0.0;
}

}  // namespace

struct Expression::Impl {
  std::string text;
  std::vector<std::string> names;
  std::vector<double> slots;
  mu::Parser parser;
};

Expression::Expression(std::string text, const std::map<std::string, double>& constants)
    : impl_(std::make_unique<Impl>()) {
  impl_->text = std::move(text);
  mu::Parser& parser = impl_->parser;
  try {
    parser.DefineFun("ceil_div", ceil_div);
    parser.DefineFun("floor_div", floor_div);
    parser.DefineFun("align_up", align_up);
    parser.DefineFun("floor", floor_of);
    parser.DefineFun("ceil", ceil_of);
    parser.DefineFun("round", round_of);
    parser.DefineFun("is_pow2", is_pow2);
    parser.DefineOprt("%", modulo, mu::prMUL_DIV);
    parser.DefineInfixOprt("!", logical_not);
    for (const auto& [name, value] : constants) parser.DefineConst(name, value);
    parser.SetExpr(impl_->text);
    for (const auto& [name, pointer] : parser.GetUsedVar()) impl_->names.push_back(name);
    impl_->slots.resize(impl_->names.size());
    for (std::size_t i = 0; i < impl_->names.size(); ++i) {
      parser.DefineVar(impl_->names[i], &impl_->slots[i]);
    }
    parser.Eval();  // compiles the byte code now, so that errors appear here
  } catch (const mu::Parser::exception_type& error) {
    throw InputError("bad expression '" + impl_->text + "': " + error.GetMsg());
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

const std::string& Expression::text() const { return impl_->text; }
const std::vector<std::string>& Expression::variables() const { return impl_->names; }

double Expression::evaluate(std::span<const double> values) const {
  for (std::size_t i = 0; i < impl_->slots.size(); ++i) impl_->slots[i] = values[i];
  const double result = impl_->parser.Eval();
  if (!std::isfinite(result)) {
    throw InputError("expression '" + impl_->text + "' has no finite value here");
  }
  return result;
}

double Expression::evaluate(const std::map<std::string, double>& values) const {
  std::vector<double> ordered;
  ordered.reserve(impl_->names.size());
  for (const std::string& name : impl_->names) {
    const auto found = values.find(name);
    if (found == values.end()) {
      throw InputError("expression '" + impl_->text + "' uses '" + name + "', which is not known");
    }
    ordered.push_back(found->second);
  }
  return evaluate(ordered);
}

}  // namespace evo
