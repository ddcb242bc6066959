#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
#include "engine/device/virtual/arithmetic/simd_integers.hpp"
// clang-format on

// Handlers for bit fields, funnel shifts, byte permutations, lop3, dot products of bytes (dp4a,
// dp2a), and instructions that extend bits, or count or find them.

namespace evo::ptx::EVO_SIMD {
namespace {

template <typename T>
constexpr auto popc_op = [](T a) { return static_cast<U32>(__builtin_popcountll(a)); };
template <typename T>
constexpr auto clz_op =
    [](T a) { return static_cast<U32>(a == 0 ? kBits<T> : __builtin_clzll(a) - (64 - kBits<T>)); };
template <typename T>
constexpr auto brev_op = [](T a) {
  U64 v = a;
  v = ((v >> 1) & 0x5555555555555555ULL) | ((v & 0x5555555555555555ULL) << 1);
  v = ((v >> 2) & 0x3333333333333333ULL) | ((v & 0x3333333333333333ULL) << 2);
  v = ((v >> 4) & 0x0f0f0f0f0f0f0f0fULL) | ((v & 0x0f0f0f0f0f0f0f0fULL) << 4);
  return static_cast<T>(__builtin_bswap64(v) >> (64 - kBits<T>));
};
template <typename T, bool kSigned, bool kShiftAmount>
constexpr auto bfind_op = [](T a) {
  T v = a;
  if (kSigned && static_cast<typename Names<T>::Signed>(a) < 0) v = static_cast<T>(~a);
  if (v == 0) return ~0U;
  const U32 position = static_cast<U32>(63 - __builtin_clzll(v));
  return kShiftAmount ? static_cast<U32>(kBits<T> - 1) - position : position;
};
/// The result of bmsk: `width` ones from bit `first` on. kClamp: bits beyond the register are
/// dropped; otherwise, `first` and `width` wrap modulo 32.
template <bool kClamp>
constexpr auto bmsk_op = [](U32 first, U32 width) {
  const bool is_beyond = kClamp && first >= 32U;
  const bool reaches_end = (kClamp && width >= 32U) || (first & 31U) + (width & 31U) >= 32U;
  const U32 from = is_beyond ? 0U : ~0U << (first & 31U);
  const U32 behind = reaches_end ? 0U : ~0U << ((first & 31U) + (width & 31U));
  return from & ~behind;
};
/// The result of szext: the lowest b bits of a, extended to 32 bits; 0 for no bits. Counts from 32
/// on give a (kClamp), or wrap modulo 32.
template <bool kSigned, bool kClamp>
constexpr auto szext_op = [](U32 a, U32 b) {
  const U32 unused = (32U - b) & 31U;
  const U32 shifted = a << unused;
  const U32 value =
      kSigned ? static_cast<U32>(static_cast<S32>(shifted) >> unused) : shifted >> unused;
  if (kClamp && b >= 32U) return a;
  return (b & 31U) == 0 ? 0U : value;
};
/// The result of fns: the position of the |n|-th one of `mask` from `base` on, upwards or, if n is
/// negative, downwards; `base` itself if n is 0 and its bit is one; otherwise all ones.
constexpr auto fns_op = [](U32 mask, U32 base, S32 n) {
  if (base >= 32U) return ~0U;
  const U32 beside = n < 0 ? ~0U >> (31U - base) : ~0U << base;
  U32 left = mask & (n == 0 ? 1U << base : beside);
  const U32 skipped = n == 0 ? 0U : (n < 0 ? 0U - static_cast<U32>(n) : static_cast<U32>(n)) - 1U;
  if (skipped >= static_cast<U32>(__builtin_popcount(left))) return ~0U;
  for (U32 i = 0; i < skipped; ++i)
    left &= n < 0 ? ~(0x80000000U >> __builtin_clz(left)) : left - 1U;
  return static_cast<U32>(n < 0 ? 31 - __builtin_clz(left) : __builtin_ctz(left));
};
constexpr auto pending_op = [](U64 state) { return static_cast<U32>(state >> kPendingShift); };
template <typename T>
constexpr auto bfe_op = [](T a, U32 b, U32 c) {
  const U32 position = b & 0xffU;
  const U32 length = c & 0xffU;
  const U64 moved = position >= static_cast<U32>(kBits<T>) ? 0 : static_cast<U64>(a) >> position;
  const U64 mask = length >= 64 ? ~0ULL : (1ULL << length) - 1;
  return static_cast<T>(moved & mask);
};
template <typename T>
constexpr auto sbfe_op = [](T a, U32 b, U32 c) {
  const U32 position = b & 0xffU;
  const U32 length = c & 0xffU;
  const auto last = static_cast<U32>(kBits<T> - 1);
  const U32 top = position + length - 1 < last ? position + length - 1 : last;
  const U64 sign = length == 0 ? 0 : (static_cast<U64>(a) >> top) & 1U;
  const U64 moved = position >= static_cast<U32>(kBits<T>) ? 0 : static_cast<U64>(a) >> position;
  // Bits of the result above the field, and bits of the field beyond the register, are copies of
  // the sign bit.
  const U32 from_register = position > last ? 0 : last + 1 - position;
  const U32 valid = length < from_register ? length : from_register;
  const U64 mask = valid >= 64 ? ~0ULL : (1ULL << valid) - 1;
  return static_cast<T>((moved & mask) | (sign != 0 ? ~mask : 0));
};
template <typename T>
constexpr auto bfi_op = [](T a, T b, U32 c, U32 d) {
  const U32 position = c & 0xffU;
  const U32 length = d & 0xffU;
  if (position >= static_cast<U32>(kBits<T>)) return b;
  const U64 mask = (length >= 64 ? ~0ULL : (1ULL << length) - 1) << position;
  return static_cast<T>((b & ~mask) | ((static_cast<U64>(a) << position) & mask));
};
constexpr auto shf_l_wrap = [](U32 a, U32 b, U32 c) {
  return static_cast<U32>(((static_cast<U64>(b) << 32 | a) << (c & 31U)) >> 32);
};
constexpr auto shf_l_clamp = [](U32 a, U32 b, U32 c) {
  const U32 n = c < 32 ? c : 32;
  return n == 32 ? a : static_cast<U32>(((static_cast<U64>(b) << 32 | a) << n) >> 32);
};
constexpr auto shf_r_wrap = [](U32 a, U32 b, U32 c) {
  return static_cast<U32>((static_cast<U64>(b) << 32 | a) >> (c & 31U));
};
constexpr auto shf_r_clamp = [](U32 a, U32 b, U32 c) {
  const U32 n = c < 32 ? c : 32;
  return static_cast<U32>((static_cast<U64>(b) << 32 | a) >> n);
};
constexpr auto prmt_op = [](U32 a, U32 b, U32 c) {
  const U64 bytes = static_cast<U64>(b) << 32 | a;
  U32 result = 0;
  for (U32 i = 0; i < 4; ++i) {
    const U32 selector = (c >> (4 * i)) & 0xfU;
    U32 byte = static_cast<U32>(bytes >> (8 * (selector & 7U))) & 0xffU;
    byte = (selector & 8U) != 0 ? ((byte & 0x80U) != 0 ? 0xffU : 0U) : byte;
    result |= byte << (8 * i);
  }
  return result;
};
/// The result of prmt with a mode; a comment at each value of kMode names PTX's mode.
template <int kMode>
constexpr auto prmt_mode_op = [](U32 a, U32 b, U32 c) {
  const U64 bytes = static_cast<U64>(b) << 32 | a;
  const U32 s = c & 3U;
  U32 selectors[4];
  for (U32 i = 0; i < 4; ++i) {
    if (kMode == 0) selectors[i] = s + i;                    // f4e
    if (kMode == 1) selectors[i] = (s + 8 - i) & 7U;         // b4e
    if (kMode == 2) selectors[i] = s;                        // rc8
    if (kMode == 3) selectors[i] = s > i ? s : i;            // ecl
    if (kMode == 4) selectors[i] = s < i ? s : i;            // ecr
    if (kMode == 5) selectors[i] = (s & 1U) * 2 + (i & 1U);  // rc16
  }
  U32 result = 0;
  for (U32 i = 0; i < 4; ++i)
    result |= (static_cast<U32>(bytes >> (8 * selectors[i])) & 0xffU) << (8 * i);
  return result;
};
constexpr auto lop3_op = [](U32 a, U32 b, U32 c, U32 table) {
  U32 r = 0;
  r |= (table & 0x01U) != 0 ? ~a & ~b & ~c : 0;
  r |= (table & 0x02U) != 0 ? ~a & ~b & c : 0;
  r |= (table & 0x04U) != 0 ? ~a & b & ~c : 0;
  r |= (table & 0x08U) != 0 ? ~a & b & c : 0;
  r |= (table & 0x10U) != 0 ? a & ~b & ~c : 0;
  r |= (table & 0x20U) != 0 ? a & ~b & c : 0;
  r |= (table & 0x40U) != 0 ? a & b & ~c : 0;
  r |= (table & 0x80U) != 0 ? a & b & c : 0;
  return r;
};
template <bool kSignedA, bool kSignedB>
constexpr auto dp4a_op = [](U32 a, U32 b, U32 c) {
  U32 sum = c;
  for (U32 i = 0; i < 4; ++i) {
    const U32 x = (a >> (8 * i)) & 0xffU;
    const U32 y = (b >> (8 * i)) & 0xffU;
    const S32 sx = kSignedA ? static_cast<std::int8_t>(x) : static_cast<S32>(x);
    const S32 sy = kSignedB ? static_cast<std::int8_t>(y) : static_cast<S32>(y);
    sum += static_cast<U32>(sx * sy);
  }
  return sum;
};
/// The result of dp2a: c plus the products of two 16-bit elements of a and the lower or upper two
/// bytes of b.
template <bool kSignedA, bool kSignedB, bool kUpper>
constexpr auto dp2a_op = [](U32 a, U32 b, U32 c) {
  U32 sum = c;
  for (U32 i = 0; i < 2; ++i) {
    const U32 x = (a >> (16 * i)) & 0xffffU;
    const U32 y = (b >> (8 * i + (kUpper ? 16 : 0))) & 0xffU;
    const S32 sx = kSignedA ? static_cast<std::int16_t>(x) : static_cast<S32>(x);
    const S32 sy = kSignedB ? static_cast<std::int8_t>(y) : static_cast<S32>(y);
    sum += static_cast<U32>(sx * sy);
  }
  return sum;
};
template <bool kSignedA, bool kSignedB>
void register_dp2a(AluTable& table, const std::string& types) {
  const std::vector<Type> three = {Type::kB32, Type::kB32, Type::kB32};
  table.add("dp2a.lo" + types, ternary<U32, U32, U32, U32, dp2a_op<kSignedA, kSignedB, false>>,
            Type::kB32, three);
  table.add("dp2a.hi" + types, ternary<U32, U32, U32, U32, dp2a_op<kSignedA, kSignedB, true>>,
            Type::kB32, three);
}
template <typename T>
void register_bits(AluTable& table) {
  using N = Names<T>;
  const std::string b = std::string(".") + N::b;
  const std::string u = std::string(".") + N::u;
  const std::string s = std::string(".") + N::s;
  table.add("popc" + b, unary<U32, T, popc_op<T>>, Type::kB32, {N::type});
  table.add("clz" + b, unary<U32, T, clz_op<T>>, Type::kB32, {N::type});
  table.add("brev" + b, unary<T, T, brev_op<T>>, N::type, {N::type});
  table.add("bfind" + u, unary<U32, T, bfind_op<T, false, false>>, Type::kB32, {N::type});
  table.add("bfind" + s, unary<U32, T, bfind_op<T, true, false>>, Type::kB32, {N::type});
  table.add("bfind.shiftamt" + u, unary<U32, T, bfind_op<T, false, true>>, Type::kB32, {N::type});
  table.add("bfind.shiftamt" + s, unary<U32, T, bfind_op<T, true, true>>, Type::kB32, {N::type});
  table.add("bfe" + u, ternary<T, T, U32, U32, bfe_op<T>>, N::type,
            {N::type, Type::kB32, Type::kB32});
  table.add("bfe" + s, ternary<T, T, U32, U32, sbfe_op<T>>, N::type,
            {N::type, Type::kB32, Type::kB32});
  table.add("bfi" + b, quaternary<T, T, bfi_op<T>>, N::type,
            {N::type, N::type, Type::kB32, Type::kB32});
}

void register_words(AluTable& table) {
  const std::vector<Type> three(3, Type::kB32);
  table.add("shf.l.wrap.b32", ternary<U32, U32, U32, U32, shf_l_wrap>, Type::kB32, three);
  table.add("shf.l.clamp.b32", ternary<U32, U32, U32, U32, shf_l_clamp>, Type::kB32, three);
  table.add("shf.r.wrap.b32", ternary<U32, U32, U32, U32, shf_r_wrap>, Type::kB32, three);
  table.add("shf.r.clamp.b32", ternary<U32, U32, U32, U32, shf_r_clamp>, Type::kB32, three);
  const std::vector<Type> two(2, Type::kB32);
  table.add("bmsk.clamp.b32", binary<U32, U32, U32, bmsk_op<true>>, Type::kB32, two);
  table.add("bmsk.wrap.b32", binary<U32, U32, U32, bmsk_op<false>>, Type::kB32, two);
  table.add("szext.clamp.u32", binary<U32, U32, U32, szext_op<false, true>>, Type::kB32, two);
  table.add("szext.clamp.s32", binary<U32, U32, U32, szext_op<true, true>>, Type::kB32, two);
  table.add("szext.wrap.u32", binary<U32, U32, U32, szext_op<false, false>>, Type::kB32, two);
  table.add("szext.wrap.s32", binary<U32, U32, U32, szext_op<true, false>>, Type::kB32, two);
  table.add("mbarrier.pending_count.b64", unary<U32, U64, pending_op>, Type::kB32, {Type::kB64});
  table.add("fns.b32", ternary<U32, U32, U32, S32, fns_op>, Type::kB32, three);
  table.add("prmt.b32", ternary<U32, U32, U32, U32, prmt_op>, Type::kB32, three,
            TaintRule::kPermute);
  table.add("prmt.b32.f4e", ternary<U32, U32, U32, U32, prmt_mode_op<0>>, Type::kB32, three);
  table.add("prmt.b32.b4e", ternary<U32, U32, U32, U32, prmt_mode_op<1>>, Type::kB32, three);
  table.add("prmt.b32.rc8", ternary<U32, U32, U32, U32, prmt_mode_op<2>>, Type::kB32, three);
  table.add("prmt.b32.ecl", ternary<U32, U32, U32, U32, prmt_mode_op<3>>, Type::kB32, three);
  table.add("prmt.b32.ecr", ternary<U32, U32, U32, U32, prmt_mode_op<4>>, Type::kB32, three);
  table.add("prmt.b32.rc16", ternary<U32, U32, U32, U32, prmt_mode_op<5>>, Type::kB32, three);
  table.add("lop3.b32", quaternary<U32, U32, lop3_op>, Type::kB32,
            std::vector<Type>(4, Type::kB32));
  table.add("dp4a.u32.u32", ternary<U32, U32, U32, U32, dp4a_op<false, false>>, Type::kB32, three);
  table.add("dp4a.s32.u32", ternary<U32, U32, U32, U32, dp4a_op<true, false>>, Type::kB32, three);
  table.add("dp4a.u32.s32", ternary<U32, U32, U32, U32, dp4a_op<false, true>>, Type::kB32, three);
  register_dp2a<false, false>(table, ".u32.u32");
  register_dp2a<true, false>(table, ".s32.u32");
  register_dp2a<false, true>(table, ".u32.s32");
  register_dp2a<true, true>(table, ".s32.s32");
  table.add("dp4a.s32.s32", ternary<U32, U32, U32, U32, dp4a_op<true, true>>, Type::kB32, three);
}

}  // namespace

void register_bit_ops(AluTable& table) {
  register_bits<U32>(table);
  register_bits<U64>(table);
  register_words(table);
}

}  // namespace evo::ptx::EVO_SIMD
