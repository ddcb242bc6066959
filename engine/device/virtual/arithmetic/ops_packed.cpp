#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
#include "engine/device/virtual/arithmetic/simd_integers.hpp"
// clang-format on

// Handlers of instructions on several integers in one register: cvt.pack, vabsdiff2 and vabsdiff4,
// and add, min and max of two 16-bit integers; of min and max with .relu; and of cvt.sat between
// integers.

namespace evo::ptx::EVO_SIMD {
namespace {

/// The bits of `value` after saturation to an integer type of `kWidth` bits.
template <int kWidth, bool kSigned>
EVO_INLINE U32 saturated(S32 value) {
  constexpr S32 kLeast = kSigned ? -(1 << (kWidth - 1)) : 0;
  constexpr S32 kMost = kSigned ? (1 << (kWidth - 1)) - 1 : (1 << kWidth) - 1;
  const S32 low = value < kLeast ? kLeast : value;
  return static_cast<U32>(low > kMost ? kMost : low) & ((1U << kWidth) - 1);
}
template <int kWidth, bool kSigned>
constexpr auto pack_pair = [](S32 a, S32 b) {
  return saturated<kWidth, kSigned>(a) << kWidth | saturated<kWidth, kSigned>(b);
};
/// The pair of a and b in the lowest bits, below the lowest bits of c.
template <int kWidth, bool kSigned>
constexpr auto pack_below =
    [](S32 a, S32 b, U32 c) { return c << (2 * kWidth) | pack_pair<kWidth, kSigned>(a, b); };

/// The absolute differences of unsigned elements of `kWidth` bits. kSum: c plus their sum.
template <int kWidth, bool kSum>
constexpr auto vabsdiff_op = [](U32 a, U32 b, U32 c) {
  constexpr U32 kMask = (1U << kWidth) - 1;
  U32 result = kSum ? c : 0;
  for (int at = 0; at < 32; at += kWidth) {
    const U32 x = (a >> at) & kMask;
    const U32 y = (b >> at) & kMask;
    const U32 difference = x > y ? x - y : y - x;
    result += kSum ? difference : difference << at;
  }
  return result;
};

/// Saturates a 64-bit integer to an integer of type I, in a register of type R.
template <typename S, typename R, typename I>
constexpr auto saturate_op = [](S a) {
  constexpr bool kSigned = static_cast<I>(-1) < 0;
  constexpr I kMost = static_cast<I>(kSigned ? (U64{1} << (sizeof(I) * 8 - 1)) - 1 : ~U64{0});
  constexpr I kLeast = static_cast<I>(kSigned ? U64{1} << (sizeof(I) * 8 - 1) : 0);
  if (a < 0) {
    const bool is_less = !kSigned || static_cast<S64>(a) < static_cast<S64>(kLeast);
    return static_cast<R>(is_less ? kLeast : static_cast<I>(a));
  }
  return static_cast<R>(static_cast<U64>(a) > static_cast<U64>(kMost) ? kMost : static_cast<I>(a));
};
template <typename S>
void register_saturation(Handler (&row)[2][4]) {
  row[0][0] = unary<U16, S, saturate_op<S, U16, std::uint8_t>>;
  row[0][1] = unary<U16, S, saturate_op<S, U16, U16>>;
  row[0][2] = unary<U32, S, saturate_op<S, U32, U32>>;
  row[0][3] = unary<U64, S, saturate_op<S, U64, U64>>;
  row[1][0] = unary<S16, S, saturate_op<S, S16, std::int8_t>>;
  row[1][1] = unary<S16, S, saturate_op<S, S16, S16>>;
  row[1][2] = unary<S32, S, saturate_op<S, S32, S32>>;
  row[1][3] = unary<S64, S, saturate_op<S, S64, S64>>;
}

template <typename T>
constexpr auto lesser = [](T a, T b) { return a < b ? a : b; };
template <typename T>
constexpr auto greater = [](T a, T b) { return a > b ? a : b; };
/// F(a, b), but 0 if that is negative.
template <typename T, auto F>
constexpr auto relu_of = [](T a, T b) { return F(a, b) > 0 ? F(a, b) : T{0}; };
/// Applies F to the two 16-bit elements of registers.
template <typename T, auto F>
constexpr auto by_halves = [](U32 a, U32 b) {
  const auto high = static_cast<U16>(F(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return U32{high} << 16 | U32{static_cast<U16>(F(static_cast<T>(a), static_cast<T>(b)))};
};

template <int kWidth, bool kSigned>
void register_pack(AluTable& table, const std::string& type) {
  const std::vector<Type> three(3, Type::kB32);
  table.add("cvt.pack.sat." + type + ".s32.b32",
            ternary<U32, S32, S32, U32, pack_below<kWidth, kSigned>>, Type::kB32, three,
            TaintRule::kAny, Pipe::kConvert);
}

/// Registers min and max of a signed type; PTX allows `.relu` before and after the type.
template <typename T, auto kMin, auto kMax>
void register_relu(AluTable& table, const std::string& type) {
  const std::vector<Type> two(2, Type::kB32);
  for (const std::string& suffix : {".relu" + type, type + ".relu"}) {
    table.add("min" + suffix, binary<T, T, T, kMin>, Type::kB32, two);
    table.add("max" + suffix, binary<T, T, T, kMax>, Type::kB32, two);
  }
}

}  // namespace

void register_packed_integers(AluTable& table) {
  register_pack<2, false>(table, "u2");
  register_pack<2, true>(table, "s2");
  register_pack<4, false>(table, "u4");
  register_pack<4, true>(table, "s4");
  register_pack<8, false>(table, "u8");
  register_pack<8, true>(table, "s8");
  register_saturation<U64>(table.helpers.saturate[0]);
  register_saturation<S64>(table.helpers.saturate[1]);
  const std::vector<Type> two(2, Type::kB32);
  const std::vector<Type> three(3, Type::kB32);
  const auto pair = [&](const std::string& name, Handler fn) {
    table.add(name, fn, Type::kB32, two);
  };
  pair("cvt.pack.sat.u16.s32", binary<U32, S32, S32, pack_pair<16, false>>);
  pair("cvt.pack.sat.s16.s32", binary<U32, S32, S32, pack_pair<16, true>>);
  for (const char* type : {"u16x2", "s16x2"}) {
    pair(std::string("add.") + type,
         binary<U32, U32, U32, by_halves<U16, [](U16 a, U16 b) { return a + b; }>>);
  }
  pair("min.u16x2", binary<U32, U32, U32, by_halves<U16, lesser<U16>>>);
  pair("max.u16x2", binary<U32, U32, U32, by_halves<U16, greater<U16>>>);
  pair("min.s16x2", binary<U32, U32, U32, by_halves<S16, lesser<S16>>>);
  pair("max.s16x2", binary<U32, U32, U32, by_halves<S16, greater<S16>>>);
  register_relu<U32, by_halves<S16, relu_of<S16, lesser<S16>>>,
                by_halves<S16, relu_of<S16, greater<S16>>>>(table, ".s16x2");
  register_relu<S32, relu_of<S32, lesser<S32>>, relu_of<S32, greater<S32>>>(table, ".s32");
  const auto video = [&](const std::string& name, Handler fn) {
    table.add(name, fn, Type::kB32, three);
  };
  video("vabsdiff2.u32.u32.u32", ternary<U32, U32, U32, U32, vabsdiff_op<16, false>>);
  video("vabsdiff2.u32.u32.u32.add", ternary<U32, U32, U32, U32, vabsdiff_op<16, true>>);
  video("vabsdiff4.u32.u32.u32", ternary<U32, U32, U32, U32, vabsdiff_op<8, false>>);
  video("vabsdiff4.u32.u32.u32.add", ternary<U32, U32, U32, U32, vabsdiff_op<8, true>>);
}

}  // namespace evo::ptx::EVO_SIMD
