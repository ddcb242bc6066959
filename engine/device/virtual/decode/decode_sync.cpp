#include <array>
#include <optional>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_barrier.hpp"
#include "engine/device/virtual/execute/exec_lanes.hpp"

// Decodes barriers, and instructions that exchange values between lanes.

namespace evo::ptx {
namespace {

std::uint32_t target(DecodeContext& context, const Operand& operand, Type type) {
  return operand.kind == Operand::Kind::kSink ? kNoRegister : context.destination(operand, type);
}

/// The registers of a destination p|q; the second is kNoRegister if the destination is a single
/// register.
std::array<std::uint32_t, 2> pair_of_targets(DecodeContext& context, const Operand& operand) {
  if (operand.kind != Operand::Kind::kPair)
    return {target(context, operand, Type::kB32), kNoRegister};
  const std::uint32_t first = target(context, operand.elements[0], Type::kB32);
  return {first, target(context, operand.elements[1], Type::kPred)};
}

/// Consumes the first modifier in `names` that the instruction has. The index of each modifier in
/// `names` must be the value of its enumerator in Mode.
template <typename Mode>
std::optional<Mode> take_mode(Modifiers& modifiers, std::initializer_list<std::string_view> names) {
  const int found = modifiers.take_one_of(names);
  if (found < 0) return std::nullopt;
  return static_cast<Mode>(found);
}

/// Emits an instruction that reads and writes the given registers.
void emit_exchange(DecodeContext& context, Handler fn, const Operands& operands,
                   std::initializer_list<std::uint32_t> sources,
                   std::initializer_list<std::uint32_t> destinations) {
  context.emit(fn, operands, Pipe::kShared, TaintRule::kOwn);
  for (const std::uint32_t reg : sources) context.reads(reg);
  for (const std::uint32_t reg : destinations) context.writes(reg);
}

void decode_warp_barrier(DecodeContext& context) {
  const std::uint32_t members = context.source(context.current().operands[0], Type::kB32);
  context.emit(exec_warp_barrier, WarpBarrierOperands{members}, Pipe::kBarrier, TaintRule::kOwn);
  context.reads(members);
}

BarrierOp take_reduction(Modifiers& modifiers) {
  const int reduction = modifiers.take_one_of({"popc", "and", "or"});
  if (reduction < 0) modifiers.unsupported();
  modifiers.take_type();
  return reduction == 0 ? BarrierOp::kPopc : reduction == 1 ? BarrierOp::kAnd : BarrierOp::kOr;
}

}  // namespace

void decode_barrier(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  const bool warp_level = modifiers.take("warp");
  modifiers.take("cta");
  if (modifiers.take("cluster")) {
    decode_cluster_barrier(context, modifiers);
    return;
  }
  const bool is_aligned = modifiers.take("aligned") || in.spelling.starts_with("bar.");
  const int kind = modifiers.take_one_of({"sync", "arrive", "red"});
  if (warp_level) {
    modifiers.finish();
    decode_warp_barrier(context);
    return;
  }
  if (kind < 0) modifiers.unsupported();
  const bool reduces = kind == 2;
  BarrierOperands op;
  op.is_aligned = is_aligned;
  op.op = kind == 1 ? BarrierOp::kArrive : BarrierOp::kSync;
  std::size_t at = 0;
  if (reduces) {
    op.op = take_reduction(modifiers);
    op.dst = context.destination(in.operands[at++],
                                 op.op == BarrierOp::kPopc ? Type::kB32 : Type::kPred);
  }
  modifiers.finish();
  if (in.operands.size() <= at) context.unsupported("no barrier number");
  const std::size_t last = in.operands.size() - (reduces ? 1 : 0);
  op.id = context.source(in.operands[at++], Type::kB32);
  if (at < last) op.count = context.source(in.operands[at], Type::kB32);
  if (reduces) {
    op.predicate = context.predicate(in.operands.back());
    op.negated = in.operands.back().negated;
  }
  context.emit(exec_barrier, op, Pipe::kBarrier, TaintRule::kAny);
  for (const std::uint32_t reg : {op.id, op.count, op.predicate}) context.reads(reg);
  context.writes(op.dst);
}

void decode_shuffle(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 5) modifiers.unsupported();
  const auto mode = take_mode<ShuffleMode>(modifiers, {"up", "down", "bfly", "idx"});
  modifiers.take_type();
  modifiers.finish();
  ShuffleOperands op;
  const auto targets = pair_of_targets(context, in.operands[0]);
  op.dst = targets[0];
  op.in_range = targets[1];
  op.value = context.source(in.operands[1], Type::kB32);
  op.lane = context.source(in.operands[2], Type::kB32);
  op.clamp = context.source(in.operands[3], Type::kB32);
  op.members = context.source(in.operands[4], Type::kB32);
  if (!mode) context.unsupported();
  op.mode = *mode;
  emit_exchange(context, exec_shuffle, op, {op.value, op.lane, op.clamp, op.members},
                {op.dst, op.in_range});
}

void decode_vote(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 3) modifiers.unsupported();
  const auto mode = take_mode<VoteMode>(modifiers, {"all", "any", "uni", "ballot"});
  modifiers.take_type();
  modifiers.finish();
  VoteOperands op;
  op.dst =
      context.destination(in.operands[0], mode == VoteMode::kBallot ? Type::kB32 : Type::kPred);
  op.predicate = context.predicate(in.operands[1]);
  op.negated = in.operands[1].negated;
  op.members = context.source(in.operands[2], Type::kB32);
  if (!mode) context.unsupported();
  op.mode = *mode;
  emit_exchange(context, exec_vote, op, {op.predicate, op.members}, {op.dst});
}

void decode_match(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 3) modifiers.unsupported();
  const int mode = modifiers.take_one_of({"any", "all"});
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (bit_width(type) != 32 && bit_width(type) != 64) modifiers.unsupported();
  MatchOperands op;
  op.all = mode == 1;
  op.is_wide = bit_width(type) == 64;
  const auto targets = pair_of_targets(context, in.operands[0]);
  op.all_equal = targets[1];
  op.value = context.source(in.operands[1], type);
  op.members = context.source(in.operands[2], Type::kB32);
  op.dst = targets[0] == kNoRegister ? context.new_register(Type::kB32) : targets[0];
  if (mode < 0) context.unsupported();
  emit_exchange(context, exec_match, op, {op.value, op.members}, {op.dst, op.all_equal});
}

void decode_redux(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 3) modifiers.unsupported();
  constexpr std::array kUnsigned = {ReduxOp::kAdd, ReduxOp::kMinU, ReduxOp::kMaxU,
                                    ReduxOp::kAnd, ReduxOp::kOr,   ReduxOp::kXor};
  const int mode = modifiers.take_one_of({"add", "min", "max", "and", "or", "xor"});
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (is_float(type)) modifiers.unsupported();
  ReduxOperands op;
  op.dst = context.destination(in.operands[0], Type::kB32);
  op.value = context.source(in.operands[1], Type::kB32);
  op.members = context.source(in.operands[2], Type::kB32);
  if (mode < 0) context.unsupported();
  op.op = kUnsigned[static_cast<std::size_t>(mode)];
  if (type == Type::kS32 && op.op == ReduxOp::kMinU) op.op = ReduxOp::kMinS;
  if (type == Type::kS32 && op.op == ReduxOp::kMaxU) op.op = ReduxOp::kMaxS;
  emit_exchange(context, exec_redux, op, {op.value, op.members}, {op.dst});
}

void decode_elect(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 2 ||
      in.operands[0].kind != Operand::Kind::kPair)
    modifiers.unsupported();
  modifiers.finish();
  const auto targets = pair_of_targets(context, in.operands[0]);
  ElectOperands op{targets[0], targets[1], context.source(in.operands[1], Type::kB32)};
  emit_exchange(context, exec_elect, op, {op.members}, {op.leader, op.is_leader});
}

}  // namespace evo::ptx
