#pragma once

#include <optional>
#include <vector>

#include "engine/ptx/ast.hpp"
#include "tools/bundle/size_value.hpp"

namespace evo {

/// A division by an odd divisor that the compiler replaced by a multiplication by a constant of
/// `bits` bits: constant = floor(2^(bits + places) / divisor) + 1. The high half of the product of
/// a and the constant is a * 2^places / divisor, rounded down. Granlund and Montgomery, "Division
/// by invariant integers using multiplication", 1994.
struct Reciprocal {
  std::uint64_t divisor = 0;
  int places = 0;
  bool lacks_highest_bit = false;  ///< the code has constant - 2^bits, and adds a to the high half
};

/// Returns the division that a multiplication by `factor` replaces, or nullopt. `bits`: the width
/// of the factor. Finds odd divisors from 3 to 4095.
[[nodiscard]] std::optional<Reciprocal> reciprocal_of(std::uint64_t factor, int bits);

/// An integer literal in the code as an operand of `type`.
[[nodiscard]] SizeValue size_literal(std::uint64_t bits, ptx::Type type);

/// The result of an instruction, and the values by which it distinguishes shapes.
struct SizeOutcome {
  std::optional<SizeValue> result;  ///< nullopt if a source depends on more than shape variables
  std::vector<SizeValue> tests;     ///< such as a compared value or a remainder
};

/// The outcome of an instruction that does not access memory. `sources`: the instruction's operands
/// in order; nullopt for an operand that depends on more than shape variables.
[[nodiscard]] SizeOutcome size_outcome(const ptx::Instruction& instruction,
                                       const std::vector<std::optional<SizeValue>>& sources);

}  // namespace evo
