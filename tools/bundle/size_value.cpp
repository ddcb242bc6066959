#include "tools/bundle/size_value.hpp"

#include <fmt/format.h>

#include <bit>

namespace evo {
namespace {

using Whole = std::int64_t;

/// The most characters of an expression; a value whose expression would exceed this length has no
/// expression.
constexpr std::size_t kLongestText = 300;
/// Only smaller constants are multiplied, so that the product fits in 64 bits.
constexpr Whole kLargestFactor = Whole{1} << 31;

bool is_written(const SizeValue& a) { return !a.text.empty(); }

/// The value with the expression `text` and the variables of both operands. If an operand has no
/// expression or `text` is too long, the value has no expression.
SizeValue written(const SizeValue& a, const SizeValue& b, const std::string& text) {
  SizeValue result = unwritten(a, b);
  if (is_written(a) && is_written(b) && text.size() <= kLongestText) result.text = text;
  return result;
}

SizeValue power_of_two(int exponent) { return size_constant(Whole{1} << exponent); }

}  // namespace

SizeValue size_constant(Whole value) {
  SizeValue result;
  result.text = value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
  result.constant = value;
  result.may_be_negative = value < 0;
  return result;
}

SizeValue unwritten(const SizeValue& a, const SizeValue& b) {
  SizeValue result;
  result.variables = a.variables;
  result.variables.insert(b.variables.begin(), b.variables.end());
  result.must_fit = a.must_fit;
  result.must_fit.insert(b.must_fit.begin(), b.must_fit.end());
  result.may_be_negative = true;
  result.grows = false;
  return result;
}

SizeValue add(const SizeValue& a, const SizeValue& b) {
  if (a.constant && b.constant) return size_constant(*a.constant + *b.constant);
  if (a.constant == 0) return b;
  if (b.constant == 0) return a;
  SizeValue result = written(a, b, fmt::format("({} + {})", a.text, b.text));
  result.may_be_negative = a.may_be_negative || b.may_be_negative;
  result.grows = a.grows && b.grows;
  return result;
}

SizeValue subtract(const SizeValue& a, const SizeValue& b) {
  if (a.constant && b.constant) return size_constant(*a.constant - *b.constant);
  if (b.constant == 0) return a;
  if (b.step != 0 && b.rounded == a.text) return remainder(a, size_constant(b.step));
  SizeValue result = written(a, b, fmt::format("({} - {})", a.text, b.text));
  result.may_be_negative = true;
  result.grows = a.grows && b.constant.has_value();
  return result;
}

SizeValue multiply(const SizeValue& a, const SizeValue& b) {
  if (a.constant && b.constant && std::abs(*a.constant) < kLargestFactor &&
      std::abs(*b.constant) < kLargestFactor) {
    return size_constant(*a.constant * *b.constant);
  }
  if (a.constant == 1) return b;
  if (b.constant == 1) return a;
  if (a.constant == 0 || b.constant == 0) return size_constant(0);
  SizeValue result = written(a, b, fmt::format("({} * {})", a.text, b.text));
  result.may_be_negative = a.may_be_negative || b.may_be_negative;
  result.grows = a.grows && b.grows && !result.may_be_negative;
  return result;
}

SizeValue quotient(const SizeValue& a, const SizeValue& b) {
  if (b.constant == 1) return a;
  if (a.constant && b.constant && *b.constant > 0 && *a.constant >= 0) {
    return size_constant(*a.constant / *b.constant);
  }
  SizeValue result = written(a, b, fmt::format("({} // {})", a.text, b.text));
  result.may_be_negative = a.may_be_negative || b.may_be_negative;
  result.grows = a.grows && b.constant && *b.constant > 0;
  return result;
}

SizeValue remainder(const SizeValue& a, const SizeValue& b) {
  if (a.constant && b.constant && *b.constant > 0 && *a.constant >= 0) {
    return size_constant(*a.constant % *b.constant);
  }
  SizeValue result = written(a, b, fmt::format("({} % {})", a.text, b.text));
  result.may_be_negative = false;
  result.grows = false;
  if (b.constant) result.most = *b.constant;
  return result;
}

SizeValue scaled_quotient(const SizeValue& a, int places, std::uint64_t divisor) {
  const auto whole = size_constant(static_cast<Whole>(divisor));
  if (places <= 0) return quotient(a, multiply(whole, power_of_two(-places)));
  SizeValue result =
      written(a, whole, fmt::format("({} * {} // {})", a.text, Whole{1} << places, divisor));
  result.may_be_negative = a.may_be_negative;
  result.grows = a.grows;
  return result;
}

SizeValue masked(const SizeValue& a, std::uint64_t mask, int width) {
  const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  mask &= all;
  if (mask == all) return a;
  if (a.constant) {
    return size_constant(static_cast<Whole>(static_cast<std::uint64_t>(*a.constant) & mask));
  }
  const int lowest = std::countr_zero(mask);
  const std::uint64_t run = mask >> lowest;
  constexpr int kMostBits = 52;  // whole numbers that double precision represents
  if (mask == 0 || (run & (run + 1)) != 0) return mask == 0 ? size_constant(0) : unwritten(a, a);
  if (mask == (all >> lowest << lowest)) {  // the mask clears only low bits: rounds down
    if (lowest > kMostBits) return unwritten(a, a);
    const SizeValue step = power_of_two(lowest);
    SizeValue result = multiply(quotient(a, step), step);
    result.rounded = a.text;
    result.step = *step.constant;
    return result;
  }
  const int highest = lowest + std::popcount(run);
  if (highest > kMostBits) return unwritten(a, a);
  const SizeValue step = power_of_two(lowest);
  const SizeValue bits = remainder(quotient(a, step), power_of_two(highest - lowest));
  SizeValue result = multiply(bits, step);
  result.most = bits.most;
  return result;
}

SizeValue without_sign(const SizeValue& a, int width) {
  constexpr int kMostBits = 52;
  if (!a.may_be_negative) return a;
  if (width > kMostBits) return unwritten(a, a);
  if (a.constant) return masked(a, ~std::uint64_t{0} >> (64 - width), 64);
  return remainder(a, power_of_two(width));
}

SizeValue with_sign(const SizeValue& a, int width) {
  if (a.constant) return a;
  const SizeValue half = power_of_two(width - 1);
  return subtract(remainder(add(a, half), power_of_two(width)), half);
}

namespace {

SizeValue extreme(const SizeValue& a, const SizeValue& b, const std::string& function) {
  SizeValue result = written(a, b, fmt::format("{}({}, {})", function, a.text, b.text));
  result.may_be_negative = a.may_be_negative || b.may_be_negative;
  result.grows = a.grows && b.grows;
  return result;
}

}  // namespace

SizeValue smaller(const SizeValue& a, const SizeValue& b) { return extreme(a, b, "min"); }
SizeValue larger(const SizeValue& a, const SizeValue& b) { return extreme(a, b, "max"); }

SizeValue compared(const SizeValue& a, const std::string& operation, const SizeValue& b) {
  SizeValue result = written(a, b, fmt::format("({} {} {})", a.text, operation, b.text));
  result.may_be_negative = false;
  result.grows = false;
  result.most = 2;
  return result;
}

SizeValue chosen(const SizeValue& condition, const SizeValue& yes, const SizeValue& no) {
  SizeValue result = unwritten(condition, unwritten(yes, no));
  const std::string text = fmt::format("({} ? {} : {})", condition.text, yes.text, no.text);
  if (is_written(condition) && is_written(yes) && is_written(no) && text.size() <= kLongestText) {
    result.text = text;
  }
  result.may_be_negative = yes.may_be_negative || no.may_be_negative;
  return result;
}

}  // namespace evo
