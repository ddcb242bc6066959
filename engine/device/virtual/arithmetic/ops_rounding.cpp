// This file is compiled with -frounding-math, so that the compiler does not move arithmetic across
// a change of the rounding mode.
#include "engine/device/virtual/arithmetic/ops_rounding.hpp"

#include <cfenv>
#include <cmath>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {
namespace {

int host_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return FE_TOWARDZERO;
    case Rounding::kDown:
      return FE_DOWNWARD;
    case Rounding::kUp:
      return FE_UPWARD;
    case Rounding::kNearest:
      break;
  }
  return FE_TONEAREST;
}

class RoundingScope {
 public:
  explicit RoundingScope(int mode) { std::fesetround(mode); }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

float flushed(float value) {
  const std::uint32_t bits = float_bits(value);
  return bits_float((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}

template <typename F>
[[gnu::noinline]] F compute(RoundedOp op, F a, F b, F c) {
  switch (op) {
    case RoundedOp::kAdd:
      return a + b;
    case RoundedOp::kSub:
      return a - b;
    case RoundedOp::kMul:
      return a * b;
    case RoundedOp::kFma:
      return std::fma(a, b, c);
    case RoundedOp::kDiv:
      return a / b;
    case RoundedOp::kSqrt:
      return std::sqrt(a);
    case RoundedOp::kRcp:
      return F{1} / a;
  }
  return a;
}

template <typename F>
void rounded(Warp& warp, const Instr& in) {
  const auto& operands = in.as<RoundedOperands>();
  const RoundingScope scope(host_rounding(operands.rounding));
  const RoundedOp op = operands.op;
  const bool ftz = operands.ftz;
  F* dst = warp.reg<F>(operands.dst);
  const F* a = warp.reg<F>(operands.src[0]);
  const F* b = operands.src[1] == kNoRegister ? a : warp.reg<F>(operands.src[1]);
  const F* c = operands.src[2] == kNoRegister ? a : warp.reg<F>(operands.src[2]);
  for (int l = 0; l < kWarpSize; ++l) {
    if (((warp.exec >> l) & 1U) == 0) continue;
    if constexpr (sizeof(F) == 4) {
      float result = ftz ? flushed(compute<float>(op, flushed(a[l]), flushed(b[l]), flushed(c[l])))
                         : compute<float>(op, a[l], b[l], c[l]);
      if (result != result) result = bits_float(0x7fffffffU);
      if (operands.sat) result = result > 0 ? (result < 1 ? result : 1.0F) : 0.0F;
      dst[l] = result;
    } else {
      dst[l] = compute<F>(op, a[l], b[l], c[l]);
    }
  }
}

template <typename D, typename S>
void convert(Warp& warp, const Instr& in) {
  const auto& op = in.as<ConvertOperands>();
  const RoundingScope scope(host_rounding(op.rounding));
  D* dst = warp.reg<D>(op.dst);
  const S* a = warp.reg<S>(op.source);
  for (int l = 0; l < kWarpSize; ++l) {
    if (((warp.exec >> l) & 1U) == 0) continue;
    D result = static_cast<D>(a[l]);
    if constexpr (sizeof(D) == 4) {
      if (op.ftz) result = flushed(result);
    }
    dst[l] = result;
  }
}

template <typename D>
Handler integer_conversion(Type source) {
  switch (source) {
    case Type::kU16:
      return convert<D, std::uint16_t>;
    case Type::kS16:
      return convert<D, std::int16_t>;
    case Type::kU32:
      return convert<D, std::uint32_t>;
    case Type::kS32:
      return convert<D, std::int32_t>;
    case Type::kU64:
      return convert<D, std::uint64_t>;
    case Type::kS64:
      return convert<D, std::int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

void rounded_f32(Warp& warp, const Instr& in) { rounded<float>(warp, in); }
void rounded_f64(Warp& warp, const Instr& in) { rounded<double>(warp, in); }
void rounded_f64_to_f32(Warp& warp, const Instr& in) { convert<float, double>(warp, in); }

Handler rounded_integer_to_float(Type destination, Type source) {
  if (destination == Type::kF32) return integer_conversion<float>(source);
  if (destination == Type::kF64) return integer_conversion<double>(source);
  return nullptr;
}

}  // namespace evo::ptx
