#include "engine/core/expression_machine.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace evo {
namespace {

/// Why the evaluation under way has no value: muParser's functions have no other way to say it.
thread_local const char* trouble = nullptr;

double no_value(const char* why) {
  if (trouble == nullptr) trouble = why;
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr const char* kDivision = "division by zero";

double divide(double a, double b) { return b == 0 ? no_value(kDivision) : a / b; }
double ceil_div(double a, double b) { return b == 0 ? no_value(kDivision) : std::ceil(a / b); }
double floor_div(double a, double b) { return b == 0 ? no_value(kDivision) : std::floor(a / b); }
double align_up(double a, double multiple) {
  return multiple == 0 ? no_value(kDivision) : std::ceil(a / multiple) * multiple;
}

/// Python's %: exact, with the sign of the divisor.
double modulo(double a, double b) {
  if (b == 0) return no_value(kDivision);
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Python's //: the whole number of times, such that a == a // b * b + a % b.
double floor_divide(double a, double b) {
  if (b == 0) return no_value(kDivision);
  return std::round((a - modulo(a, b)) / b);
}

double power(double base, double exponent) {
  const double result = std::pow(base, exponent);
  return std::isfinite(result) ? result : no_value("a power without a finite value");
}

double square_root(double a) {
  return a < 0 ? no_value("square root of a negative number") : std::sqrt(a);
}
double natural_log(double a) {
  return a <= 0 ? no_value("logarithm of a number that is not positive") : std::log(a);
}
double binary_log(double a) {
  return a <= 0 ? no_value("logarithm of a number that is not positive") : std::log2(a);
}
double exponential(double a) {
  const double result = std::exp(a);
  return std::isfinite(result) ? result : no_value("exp of a number that is too large");
}

double floor_of(double a) { return std::floor(a); }
double ceil_of(double a) { return std::ceil(a); }
double round_of(double a) { return std::round(a); }
double abs_of(double a) { return std::fabs(a); }
double min_of(const double* values, int count) { return *std::min_element(values, values + count); }
double max_of(const double* values, int count) { return *std::max_element(values, values + count); }

double is_pow2(double a) {
  int exponent = 0;
  return a >= 1.0 && std::frexp(a, &exponent) == 0.5 ? 1.0 : 0.0;
}

/// Numbers as the grammar writes them, whatever the locale. muParser's own reader copies the rest
/// of the expression for each.
int read_number(const char* text, int* position, double* value) {
  constexpr std::size_t kLongestNumber = 40;
  const char* end = text + strnlen(text, kLongestNumber);
  const auto [rest, error] = std::from_chars(text, end, *value);
  if (error != std::errc()) return 0;
  *position += static_cast<int>(rest - text);
  return 1;
}

}  // namespace

ExpressionMachine::ExpressionMachine() {
  AddValIdent(read_number);
  InitCharSets();
  InitFun();
  // The optimizer would turn a division into a multiplication by a rounded reciprocal.
  EnableOptimizer(false);
}

void ExpressionMachine::InitCharSets() {
  DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  DefineOprtChars("+-*^/?<>=!%&|~");
  DefineInfixOprtChars("!");
}

void ExpressionMachine::InitFun() {
  DefineFun("divide", divide, false);
  DefineFun("floor_divide", floor_divide, false);
  DefineFun("modulo", modulo, false);
  DefineFun("power", power, false);
  DefineFun("ceil_div", ceil_div, false);
  DefineFun("floor_div", floor_div, false);
  DefineFun("align_up", align_up, false);
  DefineFun("sqrt", square_root, false);
  DefineFun("exp", exponential, false);
  DefineFun("ln", natural_log, false);
  DefineFun("log2", binary_log, false);
  DefineFun("floor", floor_of);
  DefineFun("ceil", ceil_of);
  DefineFun("round", round_of);
  DefineFun("abs", abs_of);
  DefineFun("min", min_of);
  DefineFun("max", max_of);
  DefineFun("is_pow2", is_pow2);
}

ExpressionMachine::Outcome ExpressionMachine::run() const {
  trouble = nullptr;
  const double value = Eval();
  if (trouble != nullptr) return {value, trouble};
  if (!std::isfinite(value)) return {value, "no finite value"};
  return {value, nullptr};
}

}  // namespace evo
