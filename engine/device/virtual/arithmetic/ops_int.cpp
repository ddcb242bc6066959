#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
#include "engine/device/virtual/arithmetic/simd_integers.hpp"
// clang-format on

// Handlers of integer arithmetic, logic and shifts. Arithmetic that may wrap uses unsigned types,
// because a signed overflow is undefined in C++.

namespace evo::ptx::EVO_SIMD {
namespace {

template <typename T>
EVO_INLINE T cut(U64 value) {
  return static_cast<T>(value);
}

template <typename T>
constexpr auto add_op = [](T a, T b) { return static_cast<T>(a + b); };
template <typename T>
constexpr auto sub_op = [](T a, T b) { return static_cast<T>(a - b); };
template <typename T>
constexpr auto mul_op = [](T a, T b) { return cut<T>(static_cast<U64>(a) * b); };
template <typename T>
constexpr auto mad_op = [](T a, T b, T c) { return cut<T>(static_cast<U64>(a) * b + c); };
template <typename T>
constexpr auto min_op = [](T a, T b) { return a < b ? a : b; };
template <typename T>
constexpr auto max_op = [](T a, T b) { return a > b ? a : b; };
template <typename T>
constexpr auto neg_op = [](T a) { return static_cast<T>(0 - a); };
template <typename T>
constexpr auto abs_op =
    [](T a) { return static_cast<T>(static_cast<typename Names<T>::Signed>(a) < 0 ? 0 - a : a); };
template <typename T>
constexpr auto and_op = [](T a, T b) { return static_cast<T>(a & b); };
template <typename T>
constexpr auto or_op = [](T a, T b) { return static_cast<T>(a | b); };
template <typename T>
constexpr auto xor_op = [](T a, T b) { return static_cast<T>(a ^ b); };
template <typename T>
constexpr auto not_op = [](T a) { return static_cast<T>(~a); };
template <typename T>
constexpr auto cnot_op = [](T a) { return static_cast<T>(a == 0 ? 1 : 0); };
/// The type in which shifts of T are computed, which has at least 32 bits, because SIMD units
/// cannot shift narrower elements by a separate count for each lane.
template <typename T>
using Shifted = std::conditional_t<sizeof(T) < sizeof(U32), U32, T>;
template <typename T>
constexpr auto shl_op = [](T a, U32 b) {
  const auto shifted = static_cast<Shifted<T>>(a) << (b & U32{kBits<Shifted<T>> - 1});
  return static_cast<T>(b >= U32{kBits<T>} ? 0 : shifted);
};
template <typename T>
constexpr auto shr_op = [](T a, U32 b) {
  const auto shifted = static_cast<Shifted<T>>(a) >> (b & U32{kBits<Shifted<T>> - 1});
  return static_cast<T>(b >= U32{kBits<T>} ? 0 : shifted);
};
template <typename T>
constexpr auto sar_op = [](T a, U32 b) {
  const U32 amount = b >= static_cast<U32>(kBits<T>) ? static_cast<U32>(kBits<T> - 1) : b;
  return static_cast<T>(static_cast<typename Names<T>::Signed>(a) >> amount);
};
// Division by zero gives a number whose bits are all ones, as in the code that ptxas emits for a
// division.
template <typename T>
constexpr auto div_op = [](T a, T b) -> T {
  if (b == 0) return static_cast<T>(~static_cast<U64>(0));
  return static_cast<T>(a / b);
};
template <typename T>
constexpr auto rem_op = [](T a, T b) -> T { return b == 0 ? a : static_cast<T>(a % b); };
template <typename T>
constexpr auto sdiv_op = [](T a, T b) -> T {
  if (b == 0) return static_cast<T>(-1);
  if (b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<U64>(a));
  return static_cast<T>(a / b);
};
template <typename T>
constexpr auto srem_op = [](T a, T b) -> T {
  if (b == 0) return a;
  if (b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
};
template <typename T>
constexpr auto mulhi_op = [](T a, T b) {
  return static_cast<T>((static_cast<typename Names<T>::Wide>(a) * b) >> kBits<T>);
};
template <typename T>
constexpr auto smulhi_op = [](T a, T b) {
  using S = typename Names<T>::Signed;
  using W = typename Names<T>::SWide;
  return static_cast<T>((static_cast<W>(static_cast<S>(a)) * static_cast<S>(b)) >> kBits<T>);
};
template <typename T>
constexpr auto madhi_op = [](T a, T b, T c) { return static_cast<T>(mulhi_op<T>(a, b) + c); };
template <typename T>
constexpr auto smadhi_op = [](T a, T b, T c) { return static_cast<T>(smulhi_op<T>(a, b) + c); };
template <typename T>
constexpr auto wide_op = [](T a, T b) {
  using W = typename Names<T>::Wide;
  return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
};
template <typename T>
constexpr auto swide_op = [](T a, T b) {
  using S = typename Names<T>::Signed;
  using W = typename Names<T>::SWide;
  return static_cast<typename Names<T>::Wide>(static_cast<W>(static_cast<S>(a)) *
                                              static_cast<S>(b));
};
template <typename T>
constexpr auto madwide_op = [](T a, T b, typename Names<T>::Wide c) {
  return static_cast<typename Names<T>::Wide>(wide_op<T>(a, b) + c);
};
template <typename T>
constexpr auto smadwide_op = [](T a, T b, typename Names<T>::Wide c) {
  return static_cast<typename Names<T>::Wide>(swide_op<T>(a, b) + c);
};
template <typename T>
constexpr auto sad_op = [](T a, T b, T c) { return static_cast<T>(c + (a < b ? b - a : a - b)); };
template <typename S>
constexpr auto ssad_op = [](S a, S b, S c) {
  return static_cast<S>(static_cast<U64>(c) + (a < b ? static_cast<U64>(b) - static_cast<U64>(a)
                                                     : static_cast<U64>(a) - static_cast<U64>(b)));
};
/// The unsigned 48-bit product of the low 24 bits of a and b; mul24 returns 32 of its bits.
constexpr auto product24 = [](U32 a, U32 b) {
  return static_cast<U64>(a & 0xffffffU) * (b & 0xffffffU);
};
constexpr auto sproduct24 = [](U32 a, U32 b) {
  return static_cast<U64>(static_cast<S64>(static_cast<S32>(a << 8) >> 8) *
                          (static_cast<S32>(b << 8) >> 8));
};
constexpr auto mul24_op = [](U32 a, U32 b) { return static_cast<U32>(product24(a, b)); };
constexpr auto smul24_op = [](U32 a, U32 b) { return static_cast<U32>(sproduct24(a, b)); };
constexpr auto mul24hi_op = [](U32 a, U32 b) { return static_cast<U32>(product24(a, b) >> 16); };
constexpr auto smul24hi_op = [](U32 a, U32 b) { return static_cast<U32>(sproduct24(a, b) >> 16); };
constexpr auto mad24_op = [](U32 a, U32 b, U32 c) { return mul24_op(a, b) + c; };
constexpr auto smad24_op = [](U32 a, U32 b, U32 c) { return smul24_op(a, b) + c; };
constexpr auto mad24hi_op = [](U32 a, U32 b, U32 c) { return mul24hi_op(a, b) + c; };
constexpr auto smad24hi_op = [](U32 a, U32 b, U32 c) { return smul24hi_op(a, b) + c; };
constexpr auto add_sat_op = [](U32 a, U32 b) {
  const S64 sum = static_cast<S64>(static_cast<S32>(a)) + static_cast<S32>(b);
  return static_cast<U32>(sum > 0x7fffffffLL    ? 0x7fffffffLL
                          : sum < -0x80000000LL ? -0x80000000LL
                                                : sum);
};
constexpr auto sub_sat_op = [](U32 a, U32 b) {
  const S64 sum = static_cast<S64>(static_cast<S32>(a)) - static_cast<S32>(b);
  return static_cast<U32>(sum > 0x7fffffffLL    ? 0x7fffffffLL
                          : sum < -0x80000000LL ? -0x80000000LL
                                                : sum);
};
constexpr auto mad_hi_sat_op = [](U32 a, U32 b, U32 c) {
  return add_sat_op(smulhi_op<U32>(a, b), c);
};
constexpr auto mad24_hi_sat_op = [](U32 a, U32 b, U32 c) {
  return add_sat_op(smul24hi_op(a, b), c);
};

/// Whether an addition or subtraction reads and writes the carry.
struct Carry {
  bool reads = false;
  bool writes = false;
};
constexpr Carry kIn{.reads = true, .writes = false};
constexpr Carry kOut{.reads = false, .writes = true};
constexpr Carry kThrough{.reads = true, .writes = true};

/// For each lane: d = a ± b ± carry.
template <typename T, bool kSubtracts, Carry kCarry>
void carry_add(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  T* dst = lane_register<T>(warp, op.dst);
  const T* a = lane_register<const T>(warp, op.src[0]);
  const T* b = lane_register<const T>(warp, op.src[1]);
  using W = typename Names<T>::Wide;
  std::uint32_t carry = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    if (((warp.exec >> l) & 1U) == 0) continue;
    const W in_carry = kCarry.reads ? (warp.carry >> l) & 1U : 0U;
    const W x = a[l];
    const W y = b[l];
    const W sum = kSubtracts ? x - y - in_carry : x + y + in_carry;
    carry |= (static_cast<U32>(sum >> kBits<T>) & 1U) << l;
    dst[l] = static_cast<T>(sum);
  }
  if (kCarry.writes) warp.carry = (warp.carry & ~warp.exec) | carry;
}

/// The half of the product that mad adds (low or high), and whether the factors are signed.
struct Half {
  bool is_high = false;
  bool is_signed = false;
};

/// For each lane: d = (low or high half of a · b) + c + carry.
template <typename T, Half kHalf, Carry kCarry>
void carry_mad(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  T* dst = lane_register<T>(warp, op.dst);
  const T* a = lane_register<const T>(warp, op.src[0]);
  const T* b = lane_register<const T>(warp, op.src[1]);
  const T* c = lane_register<const T>(warp, op.src[2]);
  using W = typename Names<T>::Wide;
  std::uint32_t carry = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    if (((warp.exec >> l) & 1U) == 0) continue;
    const T half = !kHalf.is_high    ? mul_op<T>(a[l], b[l])
                   : kHalf.is_signed ? smulhi_op<T>(a[l], b[l])
                                     : mulhi_op<T>(a[l], b[l]);
    const W in_carry = kCarry.reads ? (warp.carry >> l) & 1U : 0U;
    const W sum = static_cast<W>(half) + c[l] + in_carry;
    carry |= (static_cast<U32>(sum >> kBits<T>) & 1U) << l;
    dst[l] = static_cast<T>(sum);
  }
  if (kCarry.writes) warp.carry = (warp.carry & ~warp.exec) | carry;
}

template <typename T>
void register_arithmetic(AluTable& table) {
  using N = Names<T>;
  using S = typename N::Signed;
  const std::string u = std::string(".") + N::u;
  const std::string s = std::string(".") + N::s;
  const std::vector<Type> two = {N::type, N::type};
  const std::vector<Type> three = {N::type, N::type, N::type};
  for (const std::string& t : {u, s}) {
    table.add("add" + t, binary<T, T, T, add_op<T>>, N::type, two, TaintRule::kCarry);
    table.add("sub" + t, binary<T, T, T, sub_op<T>>, N::type, two, TaintRule::kCarry);
    table.add("mul.lo" + t, binary<T, T, T, mul_op<T>>, N::type, two, TaintRule::kCarry,
              Pipe::kFma);
    table.add("mad.lo" + t, ternary<T, T, T, T, mad_op<T>>, N::type, three, TaintRule::kCarry,
              Pipe::kFma);
  }
  table.add("neg" + s, unary<T, T, neg_op<T>>, N::type, {N::type}, TaintRule::kCarry);
  table.add("abs" + s, unary<T, T, abs_op<T>>, N::type, {N::type});
  table.add("min" + u, binary<T, T, T, min_op<T>>, N::type, two);
  table.add("max" + u, binary<T, T, T, max_op<T>>, N::type, two);
  table.add("min" + s, binary<S, S, S, min_op<S>>, N::type, two);
  table.add("max" + s, binary<S, S, S, max_op<S>>, N::type, two);
  table.add("div" + u, binary<T, T, T, div_op<T>>, N::type, two, TaintRule::kAny, Pipe::kMufu);
  table.add("rem" + u, binary<T, T, T, rem_op<T>>, N::type, two, TaintRule::kAny, Pipe::kMufu);
  table.add("div" + s, binary<S, S, S, sdiv_op<S>>, N::type, two, TaintRule::kAny, Pipe::kMufu);
  table.add("rem" + s, binary<S, S, S, srem_op<S>>, N::type, two, TaintRule::kAny, Pipe::kMufu);
  table.add("mul.hi" + u, binary<T, T, T, mulhi_op<T>>, N::type, two, TaintRule::kAny, Pipe::kFma);
  table.add("mul.hi" + s, binary<T, T, T, smulhi_op<T>>, N::type, two, TaintRule::kAny, Pipe::kFma);
  table.add("mad.hi" + u, ternary<T, T, T, T, madhi_op<T>>, N::type, three, TaintRule::kAny,
            Pipe::kFma);
  table.add("mad.hi" + s, ternary<T, T, T, T, smadhi_op<T>>, N::type, three, TaintRule::kAny,
            Pipe::kFma);
  table.add("sad" + u, ternary<T, T, T, T, sad_op<T>>, N::type, three);
  table.add("sad" + s, ternary<S, S, S, S, ssad_op<S>>, N::type, three);
}

template <typename T>
void register_wide(AluTable& table) {
  using N = Names<T>;
  using W = typename N::Wide;
  const std::string u = std::string(".") + N::u;
  const std::string s = std::string(".") + N::s;
  const std::vector<Type> two = {N::type, N::type};
  const std::vector<Type> three = {N::type, N::type, N::wide};
  table.add("mul.wide" + u, binary<W, T, T, wide_op<T>>, N::wide, two, TaintRule::kAny, Pipe::kFma);
  table.add("mul.wide" + s, binary<W, T, T, swide_op<T>>, N::wide, two, TaintRule::kAny,
            Pipe::kFma);
  table.add("mad.wide" + u, ternary<W, T, T, W, madwide_op<T>>, N::wide, three, TaintRule::kAny,
            Pipe::kFma);
  table.add("mad.wide" + s, ternary<W, T, T, W, smadwide_op<T>>, N::wide, three, TaintRule::kAny,
            Pipe::kFma);
}

template <typename T>
void register_logic(AluTable& table) {
  using N = Names<T>;
  const std::string b = std::string(".") + N::b;
  const std::string u = std::string(".") + N::u;
  const std::string s = std::string(".") + N::s;
  const std::vector<Type> two = {N::type, N::type};
  table.add("and" + b, binary<T, T, T, and_op<T>>, N::type, two, TaintRule::kAnd);
  table.add("or" + b, binary<T, T, T, or_op<T>>, N::type, two, TaintRule::kOr);
  table.add("xor" + b, binary<T, T, T, xor_op<T>>, N::type, two, TaintRule::kXor);
  table.add("not" + b, unary<T, T, not_op<T>>, N::type, {N::type}, TaintRule::kMove);
  table.add("cnot" + b, unary<T, T, cnot_op<T>>, N::type, {N::type});
  const std::vector<Type> shift = {N::type, Type::kB32};
  for (const std::string& t : {b, u, s})
    table.add("shl" + t, binary<T, T, U32, shl_op<T>>, N::type, shift, TaintRule::kShift);
  table.add("shr" + b, binary<T, T, U32, shr_op<T>>, N::type, shift, TaintRule::kShift);
  table.add("shr" + u, binary<T, T, U32, shr_op<T>>, N::type, shift, TaintRule::kShift);
  table.add("shr" + s, binary<T, T, U32, sar_op<T>>, N::type, shift, TaintRule::kAny);
}

template <typename T>
void register_carry(AluTable& table) {
  using N = Names<T>;
  const std::string b = std::string(".") + N::b;
  const std::string u = std::string(".") + N::u;
  const std::string s = std::string(".") + N::s;
  for (const std::string& t : {u, s, b}) {
    const std::vector<Type> two = {N::type, N::type};
    table.add("addc" + t, carry_add<T, false, kIn>, N::type, two);
    table.add("addc.cc" + t, carry_add<T, false, kThrough>, N::type, two);
    table.add("add.cc" + t, carry_add<T, false, kOut>, N::type, two);
    table.add("sub.cc" + t, carry_add<T, true, kOut>, N::type, two);
    table.add("subc" + t, carry_add<T, true, kIn>, N::type, two);
    table.add("subc.cc" + t, carry_add<T, true, kThrough>, N::type, two);
  }
}

template <typename T, Half kHalf>
void register_carry_mad(AluTable& table) {
  using N = Names<T>;
  const std::string half = kHalf.is_high ? ".hi" : ".lo";
  const std::string type = std::string(".") + (kHalf.is_signed ? N::s : N::u);
  const auto add = [&](const std::string& name, Handler function) {
    table.add(name + type, function, N::type, {N::type, N::type, N::type}, TaintRule::kAny,
              Pipe::kFma);
  };
  add("madc" + half, carry_mad<T, kHalf, kIn>);
  add("madc" + half + ".cc", carry_mad<T, kHalf, kThrough>);
  add("mad" + half + ".cc", carry_mad<T, kHalf, kOut>);
}

void register_narrow(AluTable& table) {
  const std::vector<Type> two = {Type::kB32, Type::kB32};
  const std::vector<Type> three = {Type::kB32, Type::kB32, Type::kB32};
  table.add("mul24.lo.u32", binary<U32, U32, U32, mul24_op>, Type::kB32, two);
  table.add("mul24.lo.s32", binary<U32, U32, U32, smul24_op>, Type::kB32, two);
  table.add("mul24.hi.u32", binary<U32, U32, U32, mul24hi_op>, Type::kB32, two);
  table.add("mul24.hi.s32", binary<U32, U32, U32, smul24hi_op>, Type::kB32, two);
  table.add("mad24.lo.u32", ternary<U32, U32, U32, U32, mad24_op>, Type::kB32, three);
  table.add("mad24.lo.s32", ternary<U32, U32, U32, U32, smad24_op>, Type::kB32, three);
  table.add("mad24.hi.u32", ternary<U32, U32, U32, U32, mad24hi_op>, Type::kB32, three);
  table.add("mad24.hi.s32", ternary<U32, U32, U32, U32, smad24hi_op>, Type::kB32, three);
  table.add("mad.hi.sat.s32", ternary<U32, U32, U32, U32, mad_hi_sat_op>, Type::kB32, three,
            TaintRule::kAny, Pipe::kFma);
  table.add("mad24.hi.sat.s32", ternary<U32, U32, U32, U32, mad24_hi_sat_op>, Type::kB32, three,
            TaintRule::kAny, Pipe::kFma);
  table.add("add.sat.s32", binary<U32, U32, U32, add_sat_op>, Type::kB32, {Type::kB32, Type::kB32});
  table.add("sub.sat.s32", binary<U32, U32, U32, sub_sat_op>, Type::kB32, {Type::kB32, Type::kB32});
}

}  // namespace

void register_int(AluTable& table) {
  register_arithmetic<U16>(table);
  register_arithmetic<U32>(table);
  register_arithmetic<U64>(table);
  register_wide<U16>(table);
  register_wide<U32>(table);
  register_wide<U64>(table);
  register_logic<U16>(table);
  register_logic<U32>(table);
  register_logic<U64>(table);
  register_carry<U32>(table);
  register_carry_mad<U32, Half{.is_high = false, .is_signed = false}>(table);
  register_carry_mad<U32, Half{.is_high = false, .is_signed = true}>(table);
  register_carry_mad<U32, Half{.is_high = true, .is_signed = false}>(table);
  register_carry_mad<U32, Half{.is_high = true, .is_signed = true}>(table);
  register_carry_mad<U64, Half{.is_high = false, .is_signed = false}>(table);
  register_carry_mad<U64, Half{.is_high = false, .is_signed = true}>(table);
  register_carry_mad<U64, Half{.is_high = true, .is_signed = false}>(table);
  register_carry_mad<U64, Half{.is_high = true, .is_signed = true}>(table);
  register_carry<U64>(table);
  register_narrow(table);
}

}  // namespace evo::ptx::EVO_SIMD
