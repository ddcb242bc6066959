#pragma once

#include <optional>
#include <vector>

#include "engine/ptx/ast.hpp"
#include "tools/bundle/size_value.hpp"

namespace evo {

/// The odd divisor for which a compiler multiplies by a constant and keeps what lies above the
/// lowest bits of the product: constant = floor(2^(bits + places) / divisor) + 1.
/// Granlund and Montgomery, "Division by invariant integers using multiplication", 1994.
struct Reciprocal {
  std::uint64_t divisor = 0;
  int places = 0;
  bool lacks_highest_bit = false;  ///< the constant is less by 2^bits, which an addition makes up
};

/// `bits`: of the factor. Divisors up to 4095.
[[nodiscard]] std::optional<Reciprocal> reciprocal_of(std::uint64_t factor, int bits);

/// A number in the code as an operand of `type`: with a sign, unless the type has none.
[[nodiscard]] SizeValue size_literal(std::uint64_t bits, ptx::Type type);

/// What an instruction makes of its sources.
struct SizeOutcome {
  std::optional<SizeValue> result;  ///< nothing: not all sources follow from sizes alone
  std::vector<SizeValue> tests;     ///< each of its values tells sizes apart
};

/// `sources`: those of an instruction that neither reads nor writes memory, in their order; nothing
/// for one that does not follow from sizes alone.
[[nodiscard]] SizeOutcome size_outcome(const ptx::Instruction& instruction,
                                       const std::vector<std::optional<SizeValue>>& sources);

}  // namespace evo
