#include "engine/device/virtual/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/simd_target.hpp"
#include "engine/device/virtual/simd_lanes.hpp"
// clang-format on

// Integer and bit instructions. Wrapping arithmetic is done on unsigned types.

namespace evo::ptx::EVO_SIMD {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

template <typename T> struct Names;
template <> struct Names<U16> { static constexpr const char* u = "u16"; static constexpr const char* s = "s16"; static constexpr const char* b = "b16"; static constexpr Type type = Type::kB16; using Signed = S16; using Wide = U32; using SWide = S32; static constexpr Type wide = Type::kB32; };
template <> struct Names<U32> { static constexpr const char* u = "u32"; static constexpr const char* s = "s32"; static constexpr const char* b = "b32"; static constexpr Type type = Type::kB32; using Signed = S32; using Wide = U64; using SWide = S64; static constexpr Type wide = Type::kB64; };
template <> struct Names<U64> { static constexpr const char* u = "u64"; static constexpr const char* s = "s64"; static constexpr const char* b = "b64"; static constexpr Type type = Type::kB64; using Signed = S64; using Wide = unsigned __int128; using SWide = __int128; static constexpr Type wide = Type::kB128; };

template <typename T>
constexpr int kBits = static_cast<int>(sizeof(T) * 8);

template <typename T>
EVO_INLINE T cut(U64 value) { return static_cast<T>(value); }

template <typename T> constexpr auto add_op = [](T a, T b) { return static_cast<T>(a + b); };
template <typename T> constexpr auto sub_op = [](T a, T b) { return static_cast<T>(a - b); };
template <typename T> constexpr auto mul_op = [](T a, T b) { return cut<T>(static_cast<U64>(a) * b); };
template <typename T> constexpr auto mad_op = [](T a, T b, T c) { return cut<T>(static_cast<U64>(a) * b + c); };
template <typename T> constexpr auto min_op = [](T a, T b) { return a < b ? a : b; };
template <typename T> constexpr auto max_op = [](T a, T b) { return a > b ? a : b; };
template <typename T> constexpr auto neg_op = [](T a) { return static_cast<T>(0 - a); };
template <typename T> constexpr auto abs_op = [](T a) {
  return static_cast<T>(static_cast<typename Names<T>::Signed>(a) < 0 ? 0 - a : a);
};
template <typename T> constexpr auto and_op = [](T a, T b) { return static_cast<T>(a & b); };
template <typename T> constexpr auto or_op = [](T a, T b) { return static_cast<T>(a | b); };
template <typename T> constexpr auto xor_op = [](T a, T b) { return static_cast<T>(a ^ b); };
template <typename T> constexpr auto not_op = [](T a) { return static_cast<T>(~a); };
template <typename T> constexpr auto cnot_op = [](T a) { return static_cast<T>(a == 0 ? 1 : 0); };
template <typename T> constexpr auto shl_op = [](T a, U32 b) {
  return static_cast<T>(b >= static_cast<U32>(kBits<T>) ? 0 : static_cast<U64>(a) << (b & 63U));
};
template <typename T> constexpr auto shr_op = [](T a, U32 b) {
  return static_cast<T>(b >= static_cast<U32>(kBits<T>) ? 0 : static_cast<U64>(a) >> (b & 63U));
};
template <typename T> constexpr auto sar_op = [](T a, U32 b) {
  const U32 amount = b >= static_cast<U32>(kBits<T>) ? static_cast<U32>(kBits<T> - 1) : b;
  return static_cast<T>(static_cast<typename Names<T>::Signed>(a) >> amount);
};
// Division by zero gives all ones, as the hardware's expansion of the division does.
template <typename T> constexpr auto div_op = [](T a, T b) -> T {
  if (b == 0) return static_cast<T>(~static_cast<U64>(0));
  return static_cast<T>(a / b);
};
template <typename T> constexpr auto rem_op = [](T a, T b) -> T { return b == 0 ? a : static_cast<T>(a % b); };
template <typename T> constexpr auto sdiv_op = [](T a, T b) -> T {
  if (b == 0) return static_cast<T>(-1);
  if (b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<U64>(a));
  return static_cast<T>(a / b);
};
template <typename T> constexpr auto srem_op = [](T a, T b) -> T {
  if (b == 0) return a;
  if (b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
};
template <typename T> constexpr auto mulhi_op = [](T a, T b) {
  return static_cast<T>((static_cast<typename Names<T>::Wide>(a) * b) >> kBits<T>);
};
template <typename T> constexpr auto smulhi_op = [](T a, T b) {
  using S = typename Names<T>::Signed;
  using W = typename Names<T>::SWide;
  return static_cast<T>((static_cast<W>(static_cast<S>(a)) * static_cast<S>(b)) >> kBits<T>);
};
template <typename T> constexpr auto madhi_op = [](T a, T b, T c) { return static_cast<T>(mulhi_op<T>(a, b) + c); };
template <typename T> constexpr auto smadhi_op = [](T a, T b, T c) { return static_cast<T>(smulhi_op<T>(a, b) + c); };
template <typename T> constexpr auto wide_op = [](T a, T b) {
  using W = typename Names<T>::Wide;
  return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
};
template <typename T> constexpr auto swide_op = [](T a, T b) {
  using S = typename Names<T>::Signed;
  using W = typename Names<T>::SWide;
  return static_cast<typename Names<T>::Wide>(static_cast<W>(static_cast<S>(a)) * static_cast<S>(b));
};
template <typename T> constexpr auto madwide_op = [](T a, T b, typename Names<T>::Wide c) {
  return static_cast<typename Names<T>::Wide>(wide_op<T>(a, b) + c);
};
template <typename T> constexpr auto smadwide_op = [](T a, T b, typename Names<T>::Wide c) {
  return static_cast<typename Names<T>::Wide>(swide_op<T>(a, b) + c);
};
template <typename T> constexpr auto sad_op = [](T a, T b, T c) { return static_cast<T>(c + (a < b ? b - a : a - b)); };
template <typename S> constexpr auto ssad_op = [](S a, S b, S c) {
  return static_cast<S>(static_cast<U64>(c) + (a < b ? static_cast<U64>(b) - static_cast<U64>(a) : static_cast<U64>(a) - static_cast<U64>(b)));
};
template <typename T> constexpr auto popc_op = [](T a) { return static_cast<U32>(__builtin_popcountll(a)); };
template <typename T> constexpr auto clz_op = [](T a) {
  return static_cast<U32>(a == 0 ? kBits<T> : __builtin_clzll(a) - (64 - kBits<T>));
};
template <typename T> constexpr auto brev_op = [](T a) {
  U64 v = a;
  v = ((v >> 1) & 0x5555555555555555ULL) | ((v & 0x5555555555555555ULL) << 1);
  v = ((v >> 2) & 0x3333333333333333ULL) | ((v & 0x3333333333333333ULL) << 2);
  v = ((v >> 4) & 0x0f0f0f0f0f0f0f0fULL) | ((v & 0x0f0f0f0f0f0f0f0fULL) << 4);
  return static_cast<T>(__builtin_bswap64(v) >> (64 - kBits<T>));
};
template <typename T, bool kSigned, bool kShiftAmount> constexpr auto bfind_op = [](T a) {
  T v = a;
  if (kSigned && static_cast<typename Names<T>::Signed>(a) < 0) v = static_cast<T>(~a);
  if (v == 0) return ~0U;
  const U32 position = static_cast<U32>(63 - __builtin_clzll(v));
  return kShiftAmount ? static_cast<U32>(kBits<T> - 1) - position : position;
};
template <typename T> constexpr auto bfe_op = [](T a, U32 b, U32 c) {
  const U32 position = b & 0xffU;
  const U32 length = c & 0xffU;
  const U64 moved = position >= static_cast<U32>(kBits<T>) ? 0 : static_cast<U64>(a) >> position;
  const U64 mask = length >= 64 ? ~0ULL : (1ULL << length) - 1;
  return static_cast<T>(moved & mask);
};
template <typename T> constexpr auto sbfe_op = [](T a, U32 b, U32 c) {
  const U32 position = b & 0xffU;
  const U32 length = c & 0xffU;
  const auto last = static_cast<U32>(kBits<T> - 1);
  const U32 top = position + length - 1 < last ? position + length - 1 : last;
  const U64 sign = length == 0 ? 0 : (static_cast<U64>(a) >> top) & 1U;
  const U64 moved = position >= static_cast<U32>(kBits<T>) ? 0 : static_cast<U64>(a) >> position;
  // Bits above the field, and those that would come from beyond the register, repeat the sign.
  const U32 from_register = position > last ? 0 : last + 1 - position;
  const U32 valid = length < from_register ? length : from_register;
  const U64 mask = valid >= 64 ? ~0ULL : (1ULL << valid) - 1;
  return static_cast<T>((moved & mask) | (sign != 0 ? ~mask : 0));
};
template <typename T> constexpr auto bfi_op = [](T a, T b, U32 c, U32 d) {
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
template <int kMode> constexpr auto prmt_mode_op = [](U32 a, U32 b, U32 c) {
  const U64 bytes = static_cast<U64>(b) << 32 | a;
  const U32 s = c & 3U;
  U32 selectors[4];
  for (U32 i = 0; i < 4; ++i) {
    if (kMode == 0) selectors[i] = s + i;                                  // f4e
    if (kMode == 1) selectors[i] = (s + 8 - i) & 7U;                       // b4e
    if (kMode == 2) selectors[i] = s;                                      // rc8
    if (kMode == 3) selectors[i] = s > i ? s : i;                          // ecl
    if (kMode == 4) selectors[i] = s < i ? s : i;                          // ecr
    if (kMode == 5) selectors[i] = (s & 1U) * 2 + (i & 1U);                // rc16
  }
  U32 result = 0;
  for (U32 i = 0; i < 4; ++i) result |= (static_cast<U32>(bytes >> (8 * selectors[i])) & 0xffU) << (8 * i);
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
template <bool kSignedA, bool kSignedB> constexpr auto dp4a_op = [](U32 a, U32 b, U32 c) {
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
constexpr auto mul24_op = [](U32 a, U32 b) { return (a & 0xffffffU) * (b & 0xffffffU); };
constexpr auto smul24_op = [](U32 a, U32 b) {
  return static_cast<U32>((static_cast<S32>(a << 8) >> 8)) * static_cast<U32>((static_cast<S32>(b << 8) >> 8));
};
constexpr auto add_sat_op = [](U32 a, U32 b) {
  const S64 sum = static_cast<S64>(static_cast<S32>(a)) + static_cast<S32>(b);
  return static_cast<U32>(sum > 0x7fffffffLL ? 0x7fffffffLL : sum < -0x80000000LL ? -0x80000000LL : sum);
};
constexpr auto sub_sat_op = [](U32 a, U32 b) {
  const S64 sum = static_cast<S64>(static_cast<S32>(a)) - static_cast<S32>(b);
  return static_cast<U32>(sum > 0x7fffffffLL ? 0x7fffffffLL : sum < -0x80000000LL ? -0x80000000LL : sum);
};

/// d = a + b + carry in; carry out. aux: 1 writes the carry, 2 reads it, 4 subtracts.
template <typename T>
void carry_add(Warp& warp, const Instr& in) {
  T* dst = lane_register<T>(warp, in.dst);
  const T* a = lane_register<const T>(warp, in.src[0]);
  const T* b = lane_register<const T>(warp, in.src[1]);
  using W = typename Names<T>::Wide;
  std::uint32_t carry = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    if (((warp.exec >> l) & 1U) == 0) continue;
    const bool subtract = (in.aux & 4U) != 0;
    const W in_carry = (in.aux & 2U) != 0 ? (warp.carry >> l) & 1U : 0U;
    const W x = a[l];
    const W y = b[l];
    const W sum = subtract ? x - y - in_carry : x + y + in_carry;
    carry |= (static_cast<U32>(sum >> kBits<T>) & 1U) << l;
    dst[l] = static_cast<T>(sum);
  }
  if ((in.aux & 1U) != 0) warp.carry = (warp.carry & ~warp.exec) | carry;
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
    table.add("mul.lo" + t, binary<T, T, T, mul_op<T>>, N::type, two, TaintRule::kCarry, Pipe::kFma);
    table.add("mad.lo" + t, ternary<T, T, T, T, mad_op<T>>, N::type, three, TaintRule::kCarry, Pipe::kFma);
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
  table.add("mad.hi" + u, ternary<T, T, T, T, madhi_op<T>>, N::type, three, TaintRule::kAny, Pipe::kFma);
  table.add("mad.hi" + s, ternary<T, T, T, T, smadhi_op<T>>, N::type, three, TaintRule::kAny, Pipe::kFma);
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
  table.add("mul.wide" + s, binary<W, T, T, swide_op<T>>, N::wide, two, TaintRule::kAny, Pipe::kFma);
  table.add("mad.wide" + u, ternary<W, T, T, W, madwide_op<T>>, N::wide, three, TaintRule::kAny, Pipe::kFma);
  table.add("mad.wide" + s, ternary<W, T, T, W, smadwide_op<T>>, N::wide, three, TaintRule::kAny, Pipe::kFma);
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
  for (const std::string& t : {b, u, s}) table.add("shl" + t, binary<T, T, U32, shl_op<T>>, N::type, shift, TaintRule::kShift);
  table.add("shr" + b, binary<T, T, U32, shr_op<T>>, N::type, shift, TaintRule::kShift);
  table.add("shr" + u, binary<T, T, U32, shr_op<T>>, N::type, shift, TaintRule::kShift);
  table.add("shr" + s, binary<T, T, U32, sar_op<T>>, N::type, shift, TaintRule::kAny);
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
  table.add("bfe" + u, ternary<T, T, U32, U32, bfe_op<T>>, N::type, {N::type, Type::kB32, Type::kB32});
  table.add("bfe" + s, ternary<T, T, U32, U32, sbfe_op<T>>, N::type, {N::type, Type::kB32, Type::kB32});
  table.add("bfi" + b, quaternary<T, T, bfi_op<T>>, N::type, {N::type, N::type, Type::kB32, Type::kB32});
  for (const std::string& t : {u, s, b}) {
    table.add("addc" + t, carry_add<T>, N::type, {N::type, N::type});
    table.add("addc.cc" + t, carry_add<T>, N::type, {N::type, N::type});
    table.add("add.cc" + t, carry_add<T>, N::type, {N::type, N::type});
    table.add("sub.cc" + t, carry_add<T>, N::type, {N::type, N::type});
    table.add("subc" + t, carry_add<T>, N::type, {N::type, N::type});
    table.add("subc.cc" + t, carry_add<T>, N::type, {N::type, N::type});
  }
}

void register_words(AluTable& table) {
  const std::vector<Type> three(3, Type::kB32);
  table.add("shf.l.wrap.b32", ternary<U32, U32, U32, U32, shf_l_wrap>, Type::kB32, three);
  table.add("shf.l.clamp.b32", ternary<U32, U32, U32, U32, shf_l_clamp>, Type::kB32, three);
  table.add("shf.r.wrap.b32", ternary<U32, U32, U32, U32, shf_r_wrap>, Type::kB32, three);
  table.add("shf.r.clamp.b32", ternary<U32, U32, U32, U32, shf_r_clamp>, Type::kB32, three);
  table.add("prmt.b32", ternary<U32, U32, U32, U32, prmt_op>, Type::kB32, three, TaintRule::kPermute);
  table.add("prmt.b32.f4e", ternary<U32, U32, U32, U32, prmt_mode_op<0>>, Type::kB32, three);
  table.add("prmt.b32.b4e", ternary<U32, U32, U32, U32, prmt_mode_op<1>>, Type::kB32, three);
  table.add("prmt.b32.rc8", ternary<U32, U32, U32, U32, prmt_mode_op<2>>, Type::kB32, three);
  table.add("prmt.b32.ecl", ternary<U32, U32, U32, U32, prmt_mode_op<3>>, Type::kB32, three);
  table.add("prmt.b32.ecr", ternary<U32, U32, U32, U32, prmt_mode_op<4>>, Type::kB32, three);
  table.add("prmt.b32.rc16", ternary<U32, U32, U32, U32, prmt_mode_op<5>>, Type::kB32, three);
  table.add("lop3.b32", quaternary<U32, U32, lop3_op>, Type::kB32, std::vector<Type>(4, Type::kB32));
  table.add("dp4a.u32.u32", ternary<U32, U32, U32, U32, dp4a_op<false, false>>, Type::kB32, three);
  table.add("dp4a.s32.u32", ternary<U32, U32, U32, U32, dp4a_op<true, false>>, Type::kB32, three);
  table.add("dp4a.u32.s32", ternary<U32, U32, U32, U32, dp4a_op<false, true>>, Type::kB32, three);
  table.add("dp4a.s32.s32", ternary<U32, U32, U32, U32, dp4a_op<true, true>>, Type::kB32, three);
  table.add("mul24.lo.u32", binary<U32, U32, U32, mul24_op>, Type::kB32, {Type::kB32, Type::kB32});
  table.add("mul24.lo.s32", binary<U32, U32, U32, smul24_op>, Type::kB32, {Type::kB32, Type::kB32});
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
  register_bits<U32>(table);
  register_bits<U64>(table);
  register_words(table);
}

}  // namespace evo::ptx::EVO_SIMD
