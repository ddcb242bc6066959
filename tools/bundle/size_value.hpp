#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace evo {

/// A number that is the same in every thread of a launch: computed from shape variables and
/// constants.
struct SizeValue {
  std::string text;                 ///< an expression over shape variables; empty: there is none
  std::set<std::string> variables;  ///< the variables that it depends on; empty: a constant
  std::optional<std::int64_t> constant;
  bool may_be_negative = false;
  bool grows = true;               ///< does not decrease when a variable increases
  std::int64_t most = 0;           ///< number of possible values; 0: unknown
  std::set<std::string> must_fit;  ///< intermediate products that must fit in 31 bits
  /// An expression; unless empty, its value rounded down to a multiple of `step` is this SizeValue.
  std::string rounded;
  std::int64_t step = 0;

  [[nodiscard]] bool depends() const { return !variables.empty(); }
};

// The operations of PTX on SizeValues. If no expression describes the result, its text is empty and
// its variables are those of the operands. An expression equals the value that PTX computes only if
// the products in `must_fit` fit in 31 bits, because PTX truncates larger products.

[[nodiscard]] SizeValue size_constant(std::int64_t value);
/// A value that has no expression, but depends on the variables of `a` and `b`.
[[nodiscard]] SizeValue unwritten(const SizeValue& a, const SizeValue& b);

[[nodiscard]] SizeValue add(const SizeValue& a, const SizeValue& b);
[[nodiscard]] SizeValue subtract(const SizeValue& a, const SizeValue& b);
[[nodiscard]] SizeValue multiply(const SizeValue& a, const SizeValue& b);
/// The quotient of `a` and `b`, rounded down, as a shift to the right computes it. PTX's div rounds
/// towards zero, so callers use quotient() for div only if neither operand may be negative.
[[nodiscard]] SizeValue quotient(const SizeValue& a, const SizeValue& b);
[[nodiscard]] SizeValue remainder(const SizeValue& a, const SizeValue& b);
/// a * 2^places / divisor, rounded down: compilers compute it as a multiplication by a reciprocal.
[[nodiscard]] SizeValue scaled_quotient(const SizeValue& a, int places, std::uint64_t divisor);
/// a & mask, where only the lowest `width` bits of the mask count.
[[nodiscard]] SizeValue masked(const SizeValue& a, std::uint64_t mask, int width);
/// The lowest `width` bits of a, as an unsigned number.
[[nodiscard]] SizeValue without_sign(const SizeValue& a, int width);
/// The lowest `width` (at most 32) bits of a, as two's complement.
[[nodiscard]] SizeValue with_sign(const SizeValue& a, int width);
[[nodiscard]] SizeValue smaller(const SizeValue& a, const SizeValue& b);
[[nodiscard]] SizeValue larger(const SizeValue& a, const SizeValue& b);
/// The result of a comparison, 1 or 0. `operation`: == != < <= > >= && ||
[[nodiscard]] SizeValue compared(const SizeValue& a, const std::string& operation,
                                 const SizeValue& b);
[[nodiscard]] SizeValue chosen(const SizeValue& condition, const SizeValue& yes,
                               const SizeValue& no);

}  // namespace evo
