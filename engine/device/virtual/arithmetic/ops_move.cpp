#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
// clang-format on

// Handlers of moves, selection and predicates, and of the width changes that the decoder inserts.

namespace evo::ptx::EVO_SIMD {
namespace {

using U128 = unsigned __int128;

template <typename T>
constexpr auto copy_op = [](T a) { return a; };

template <typename D, typename S>
constexpr auto resize_op = [](S a) { return static_cast<D>(a); };

template <typename T>
void select(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  T* dst = lane_register<T>(warp, op.dst);
  const T* a = lane_register<const T>(warp, op.src[0]);
  const T* b = lane_register<const T>(warp, op.src[1]);
  std::uint32_t chosen = warp.predicate(op.src[2]);
  if (op.negated) chosen = ~chosen;
  if (warp.exec == kAllLanes) return choose(dst, chosen, a, b);
  alignas(64) T value[kWarpSize];
  choose(value, chosen, a, b);
  blend(dst, value, warp.exec);
}

template <typename T>
constexpr auto slct_int = [](T a, T b, std::int32_t c) { return c >= 0 ? a : b; };
template <typename T>
constexpr auto slct_float = [](T a, T b, float c) { return c >= 0.0F ? a : b; };

void write_predicate(Warp& warp, std::uint32_t offset, std::uint32_t value) {
  std::uint32_t& dst = warp.predicate(offset);
  dst = (dst & ~warp.exec) | (value & warp.exec);
}

void move_predicate(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  write_predicate(warp, op.dst, warp.predicate(op.src[0]));
}
void not_predicate(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  write_predicate(warp, op.dst, ~warp.predicate(op.src[0]));
}
void and_predicate(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  write_predicate(warp, op.dst, warp.predicate(op.src[0]) & warp.predicate(op.src[1]));
}
void or_predicate(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  write_predicate(warp, op.dst, warp.predicate(op.src[0]) | warp.predicate(op.src[1]));
}
void xor_predicate(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  write_predicate(warp, op.dst, warp.predicate(op.src[0]) ^ warp.predicate(op.src[1]));
}

template <typename D>
void register_resize_to(AluTable& table, int log2_bytes) {
  auto& row = table.helpers.resize[log2_bytes];
  row[1][0] = unary<D, std::uint16_t, resize_op<D, std::uint16_t>>;
  row[1][1] = unary<D, std::int16_t, resize_op<D, std::int16_t>>;
  row[2][0] = unary<D, std::uint32_t, resize_op<D, std::uint32_t>>;
  row[2][1] = unary<D, std::int32_t, resize_op<D, std::int32_t>>;
  row[3][0] = unary<D, std::uint64_t, resize_op<D, std::uint64_t>>;
  row[3][1] = unary<D, std::int64_t, resize_op<D, std::int64_t>>;
  row[4][0] = unary<D, U128, resize_op<D, U128>>;
  row[4][1] = row[4][0];
}

template <typename T>
void register_typed_moves(AluTable& table, const char* letter, Type type) {
  const std::string bits = std::to_string(sizeof(T) * 8);
  const std::string suffix = std::string(".") + letter + bits;
  table.add("mov" + suffix, unary<T, T, copy_op<T>>, type, {type}, TaintRule::kMove, Pipe::kMove);
  table.add("selp" + suffix, select<T>, type, {type, type, Type::kPred}, TaintRule::kSelect);
  table.add("slct" + suffix + ".s32", ternary<T, T, T, std::int32_t, slct_int<T>>, type,
            {type, type, Type::kB32});
  table.add("slct" + suffix + ".f32", ternary<T, T, T, float, slct_float<T>>, type,
            {type, type, Type::kB32});
}

}  // namespace

void register_move(AluTable& table) {
  for (const char* letter : {"b", "u", "s", "f"}) {
    register_typed_moves<std::uint16_t>(table, letter, Type::kB16);
    register_typed_moves<std::uint32_t>(table, letter, Type::kB32);
    register_typed_moves<std::uint64_t>(table, letter, Type::kB64);
  }
  table.add("mov.b128", unary<U128, U128, copy_op<U128>>, Type::kB128, {Type::kB128},
            TaintRule::kAny, Pipe::kMove);
  const std::vector<Type> two(2, Type::kPred);
  table.add("mov.pred", move_predicate, Type::kPred, {Type::kPred}, TaintRule::kMove);
  table.add("not.pred", not_predicate, Type::kPred, {Type::kPred}, TaintRule::kMove);
  table.add("and.pred", and_predicate, Type::kPred, two, TaintRule::kPredAnd);
  table.add("or.pred", or_predicate, Type::kPred, two, TaintRule::kPredOr);
  table.add("xor.pred", xor_predicate, Type::kPred, two, TaintRule::kAny);
  register_resize_to<std::uint16_t>(table, 1);
  register_resize_to<std::uint32_t>(table, 2);
  register_resize_to<std::uint64_t>(table, 3);
  register_resize_to<U128>(table, 4);
  auto& resize = table.helpers.resize;
  resize[1][0][0] = unary<std::uint16_t, std::uint16_t,
                          [](std::uint16_t a) { return static_cast<std::uint16_t>(a & 0xffU); }>;
  resize[1][0][1] = unary<std::uint16_t, std::uint16_t, [](std::uint16_t a) {
    return static_cast<std::uint16_t>(static_cast<std::int8_t>(a));
  }>;
}

}  // namespace evo::ptx::EVO_SIMD
