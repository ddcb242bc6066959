#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
// clang-format on

// Handlers that compare two registers and write predicates: for setp, testp, and the comparison in
// set.

namespace evo::ptx::EVO_SIMD {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

/// Combines two results of comparisons with the third operand of setp, and writes p and q.
void write_results(Warp& warp, const CompareOperands& op, U32 first, U32 second) {
  const Combine combine = op.combine;
  U32 third = combine == Combine::kNone ? 0 : warp.predicate(op.third);
  if (op.negated) third = ~third;
  const auto combined = [&](U32 value) {
    if (combine == Combine::kAnd) return value & third;
    if (combine == Combine::kOr) return value | third;
    if (combine == Combine::kXor) return value ^ third;
    return value;
  };
  const U32 exec = warp.exec;
  const U32 p = combined(first);
  const U32 q = combined(second);
  if (op.holds != kNoRegister) {
    U32& dst = warp.predicate(op.holds);
    dst = (dst & ~exec) | (p & exec);
  }
  if (op.opposite != kNoRegister) {
    U32& dst = warp.predicate(op.opposite);
    dst = (dst & ~exec) | (q & exec);
  }
}

void write_result(Warp& warp, const CompareOperands& op, U32 compared) {
  write_results(warp, op, compared, ~compared);
}

template <typename T, typename F>
EVO_INLINE U32 compare_lanes(const T* a, const T* b, F holds) {
  U32 mask = 0;
  for (int l = 0; l < kWarpSize; ++l) mask |= holds(a[l], b[l]) ? 1U << l : 0U;
  return mask;
}

template <typename T>
EVO_INLINE U32 compare(Compare op, const T* a, const T* b) {
  switch (op) {
    case Compare::kEq:
      return compare_lanes<T>(a, b, [](T x, T y) { return x == y; });
    case Compare::kNe:
      return compare_lanes<T>(a, b, [](T x, T y) { return x < y || x > y; });
    case Compare::kLt:
      return compare_lanes<T>(a, b, [](T x, T y) { return x < y; });
    case Compare::kLe:
      return compare_lanes<T>(a, b, [](T x, T y) { return x <= y; });
    case Compare::kGt:
      return compare_lanes<T>(a, b, [](T x, T y) { return x > y; });
    case Compare::kGe:
      return compare_lanes<T>(a, b, [](T x, T y) { return x >= y; });
    case Compare::kEqu:
      return compare_lanes<T>(a, b, [](T x, T y) { return !(x < y || x > y); });
    case Compare::kNeu:
      return compare_lanes<T>(a, b, [](T x, T y) { return x != y; });
    case Compare::kLtu:
      return compare_lanes<T>(a, b, [](T x, T y) { return !(x >= y); });
    case Compare::kLeu:
      return compare_lanes<T>(a, b, [](T x, T y) { return !(x > y); });
    case Compare::kGtu:
      return compare_lanes<T>(a, b, [](T x, T y) { return !(x <= y); });
    case Compare::kGeu:
      return compare_lanes<T>(a, b, [](T x, T y) { return !(x < y); });
    case Compare::kNum:
      return compare_lanes<T>(a, b, [](T x, T y) { return x == x && y == y; });
    case Compare::kNan:
      return compare_lanes<T>(a, b, [](T x, T y) { return x != x || y != y; });
  }
  return 0;
}

template <typename T>
void setp(Warp& warp, const Instr& in) {
  const auto& op = in.as<CompareOperands>();
  write_result(
      warp, op,
      compare<T>(op.op, lane_register<const T>(warp, op.a), lane_register<const T>(warp, op.b)));
}

void setp_f32(Warp& warp, const Instr& in) {
  const auto& op = in.as<CompareOperands>();
  const float* a = lane_register<const float>(warp, op.a);
  const float* b = lane_register<const float>(warp, op.b);
  if (!op.ftz) {
    write_result(warp, op, compare<float>(op.op, a, b));
    return;
  }
  alignas(64) float x[kWarpSize];
  alignas(64) float y[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    x[l] = (float_bits(a[l]) & 0x7f800000U) == 0 ? 0.0F : a[l];
    y[l] = (float_bits(b[l]) & 0x7f800000U) == 0 ? 0.0F : b[l];
  }
  write_result(warp, op, compare<float>(op.op, x, y));
}

/// With .ftz, a subnormal f16 is compared as zero; bf16 has no .ftz.
float widen_half(U16 value, bool ftz) {
  return ftz && (value & 0x7c00U) == 0 ? 0.0F : half_to_float(value);
}
float widen_bfloat(U16 value, bool) { return bfloat_to_float(value); }

/// Compares the 16-bit floats that start at bit `kShift` of registers of type T.
template <float (*kWiden)(U16, bool), typename T, int kShift>
EVO_INLINE U32 compare_narrow(Warp& warp, const CompareOperands& op) {
  const T* a = lane_register<const T>(warp, op.a);
  const T* b = lane_register<const T>(warp, op.b);
  alignas(64) float x[kWarpSize];
  alignas(64) float y[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    x[l] = kWiden(static_cast<U16>(a[l] >> kShift), op.ftz);
    y[l] = kWiden(static_cast<U16>(b[l] >> kShift), op.ftz);
  }
  return compare<float>(op.op, x, y);
}

template <float (*kWiden)(U16, bool)>
void setp_narrow(Warp& warp, const Instr& in) {
  const auto& op = in.as<CompareOperands>();
  write_result(warp, op, compare_narrow<kWiden, U16, 0>(warp, op));
}

/// Executes setp of pairs: p tells about the lower halves, and q about the upper halves.
template <float (*kWiden)(U16, bool)>
void setp_pairs(Warp& warp, const Instr& in) {
  const auto& op = in.as<CompareOperands>();
  const U32 lower = compare_narrow<kWiden, U32, 0>(warp, op);
  write_results(warp, op, lower, compare_narrow<kWiden, U32, 16>(warp, op));
}

/// Selects each half of src[0] whose predicate is true: src[1] for the lower half, src[2] for the
/// upper half. The other halves become 0.
void select_halves(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  const U32* value = lane_register<const U32>(warp, op.src[0]);
  const U32 lower = warp.predicate(op.src[1]);
  const U32 upper = warp.predicate(op.src[2]);
  alignas(64) U32 result[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    const U32 mask = (0U - ((lower >> l) & 1U)) >> 16 | (0U - ((upper >> l) & 1U)) << 16;
    result[l] = value[l] & mask;
  }
  blend(lane_register<U32>(warp, op.dst), result, warp.exec);
}

/// Executes testp. `F`: the test of the bits of a value without the sign, shifted to the left by 1.
template <typename T, auto F>
void testp(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  const T* a = lane_register<const T>(warp, op.src[0]);
  U32 mask = 0;
  for (int l = 0; l < kWarpSize; ++l) mask |= F(static_cast<T>(a[l] << 1)) ? 1U << l : 0U;
  U32& dst = warp.predicate(op.dst);
  dst = (dst & ~warp.exec) | (mask & warp.exec);
}

/// `kFirstNormal` and `kInfinite`: bits of these values, shifted to the left by 1.
template <typename T, T kFirstNormal, T kInfinite>
void register_tests(AluTable& table, const std::string& type, Type source) {
  const auto add = [&](const std::string& name, Handler fn) {
    table.add("testp." + name + type, fn, Type::kPred, {source});
  };
  add("finite", testp<T, [](T a) { return a < kInfinite; }>);
  add("infinite", testp<T, [](T a) { return a == kInfinite; }>);
  add("number", testp<T, [](T a) { return a <= kInfinite; }>);
  add("notanumber", testp<T, [](T a) { return kInfinite < a; }>);
  // According to PTX, zeros are normal.
  add("normal", testp<T, [](T a) { return a < kInfinite && (a == 0 || a >= kFirstNormal); }>);
  add("subnormal", testp<T, [](T a) { return a != 0 && a < kFirstNormal; }>);
}

}  // namespace

void register_compare(AluTable& table) {
  register_tests<U32, 0x01000000U, 0xff000000U>(table, ".f32", Type::kF32);
  register_tests<std::uint64_t, 0x0020000000000000U, 0xffe0000000000000U>(table, ".f64",
                                                                          Type::kF64);
  auto& rows = table.helpers.setp;
  rows[0][1] = setp<U16>;
  rows[0][2] = setp<U32>;
  rows[0][3] = setp<std::uint64_t>;
  rows[1][1] = setp<std::int16_t>;
  rows[1][2] = setp<std::int32_t>;
  rows[1][3] = setp<std::int64_t>;
  rows[2][2] = setp_f32;
  rows[2][3] = setp<double>;
  table.helpers.setp_f16 = setp_narrow<widen_half>;
  table.helpers.setp_bf16 = setp_narrow<widen_bfloat>;
  table.helpers.setp_f16x2 = setp_pairs<widen_half>;
  table.helpers.setp_bf16x2 = setp_pairs<widen_bfloat>;
  table.helpers.select_halves = select_halves;
}

}  // namespace evo::ptx::EVO_SIMD
