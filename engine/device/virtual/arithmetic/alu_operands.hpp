#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operands of instructions that compute each lane's result from the lane's registers.
struct AluOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t src[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  bool negated = false;  ///< selp: the predicate is negated
  auto register_fields() { return std::tie(dst, src); }
};

/// The state that mbarrier.arrive returns holds the number of the phase and, from this bit on, the
/// number of pending arrivals.
inline constexpr int kPendingShift = 40;

/// The rounding mode, for rounding to the result's precision or to an integral value.
enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// Operands of a cvt that rounds: to an integer, to a float, or to an integral value of the same
/// float type.
struct ConvertOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t source = kNoRegister;
  Rounding rounding = Rounding::kNearest;
  bool keeps_value = false;  ///< float to the same float type without rounding to an integral value
  bool ftz = false;
  bool sat = false;
  auto register_fields() { return std::tie(dst, source); }
};

/// The operations that PTX offers with a directed rounding (.rz, .rm or .rp).
enum class RoundedOp : std::uint8_t { kAdd, kSub, kMul, kFma, kDiv, kSqrt, kRcp };
struct RoundedOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t src[3] = {kNoRegister, kNoRegister, kNoRegister};
  RoundedOp op = RoundedOp::kAdd;
  Rounding rounding = Rounding::kNearest;
  bool ftz = false;
  bool sat = false;
  auto register_fields() { return std::tie(dst, src); }
};

enum class Compare : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};
/// How setp combines the result of the comparison with its third operand.
enum class Combine : std::uint8_t { kNone, kAnd, kOr, kXor };

/// The operands of setp, which compares a and b, combines the result and its negation with the
/// predicate `third`, and writes the combined values to `holds` and `opposite`.
struct CompareOperands {
  std::uint32_t holds = kNoRegister;     ///< for pairs: the result of the lower halves
  std::uint32_t opposite = kNoRegister;  ///< for pairs: the result of the upper halves
  std::uint32_t a = kNoRegister;
  std::uint32_t b = kNoRegister;
  std::uint32_t third = kNoRegister;
  bool negated = false;  ///< the third operand is negated
  Compare op = Compare::kEq;
  Combine combine = Combine::kNone;
  bool ftz = false;
  auto register_fields() { return std::tie(holds, opposite, a, b, third); }
};

}  // namespace evo::ptx
