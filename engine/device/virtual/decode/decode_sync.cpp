#include <algorithm>
#include <array>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Barriers, mbarrier, cp.async, exchange between lanes, and control flow.

namespace evo::ptx {
namespace {

void decode_barrier(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  const bool warp_level = modifiers.take("warp");
  modifiers.take("cta");
  modifiers.take("aligned");
  if (modifiers.take("cluster")) modifiers.unsupported("clusters");
  const int kind = modifiers.take_one_of({"sync", "arrive", "red"});
  if (warp_level) {
    modifiers.finish();
    const std::uint32_t mask = context.source(in.operands[0], Type::kB32);
    Instr& out = context.emit(exec_warp_barrier, Pipe::kBarrier, TaintRule::kOwn);
    out.src[0] = mask;
    context.reads(mask);
    return;
  }
  if (kind < 0) modifiers.unsupported();
  BarrierOp op = kind == 1 ? BarrierOp::kArrive : BarrierOp::kSync;
  std::size_t at = 0;
  std::uint32_t dst = kNoRegister;
  if (kind == 2) {
    const int reduction = modifiers.take_one_of({"popc", "and", "or"});
    if (reduction < 0) modifiers.unsupported();
    op = reduction == 0 ? BarrierOp::kPopc : reduction == 1 ? BarrierOp::kAnd : BarrierOp::kOr;
    modifiers.take_type();
    dst = context.destination(in.operands[at++], op == BarrierOp::kPopc ? Type::kB32 : Type::kPred);
  }
  modifiers.finish();
  if (in.operands.size() <= at) context.unsupported("no barrier number");
  const std::size_t last = in.operands.size() - (kind == 2 ? 1 : 0);
  const std::uint32_t id = context.source(in.operands[at++], Type::kB32);
  const std::uint32_t count = at < last ? context.source(in.operands[at], Type::kB32) : kNoRegister;
  const std::uint32_t predicate = kind == 2 ? context.predicate(in.operands.back()) : kNoRegister;
  Instr& out = context.emit(exec_barrier, Pipe::kBarrier, TaintRule::kAny);
  out.src[0] = id;
  out.src[1] = count;
  out.src[2] = predicate;
  out.negated = kind == 2 && in.operands.back().negated;
  out.dst = dst;
  out.aux = static_cast<std::uint16_t>(op);
  for (const std::uint32_t reg : {id, count, predicate}) context.reads(reg);
  context.writes(dst);
}

struct LaneOp {
  std::string_view name;
  std::uint16_t aux;
};

int find_mode(Modifiers& modifiers, std::initializer_list<LaneOp> modes) {
  for (const LaneOp& mode : modes) {
    if (modifiers.take(mode.name)) return mode.aux;
  }
  return -1;
}

/// Common tail: destination or pair, sources in order, the mode.
void emit_lane_op(DecodeContext& context, Handler fn, int mode, std::uint32_t dst,
                  std::uint32_t dst2, const std::vector<std::uint32_t>& sources) {
  if (mode < 0) context.unsupported();
  Instr& out = context.emit(fn, Pipe::kShared, TaintRule::kOwn);
  out.dst = dst;
  out.dst2 = dst2;
  out.aux = static_cast<std::uint16_t>(mode);
  std::copy(sources.begin(), sources.end(), out.src);
  for (const std::uint32_t reg : sources) context.reads(reg);
  context.writes(dst);
  context.writes(dst2);
}

std::uint32_t target(DecodeContext& context, const Operand& operand, Type type) {
  return operand.kind == Operand::Kind::kSink ? kNoRegister : context.destination(operand, type);
}

void decode_shuffle(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 5) modifiers.unsupported();
  const int mode = find_mode(modifiers, {{"up", 0}, {"down", 1}, {"bfly", 2}, {"idx", 3}});
  modifiers.take_type();
  modifiers.finish();
  const bool pair = in.operands[0].kind == Operand::Kind::kPair;
  const std::uint32_t dst =
      target(context, pair ? in.operands[0].elements[0] : in.operands[0], Type::kB32);
  const std::uint32_t dst2 =
      pair ? target(context, in.operands[0].elements[1], Type::kPred) : kNoRegister;
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 1; i < 5; ++i) sources.push_back(context.source(in.operands[i], Type::kB32));
  emit_lane_op(context, exec_shuffle, mode, dst, dst2, sources);
}

void decode_vote(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 3) modifiers.unsupported();
  const int mode = find_mode(modifiers, {{"all", 0}, {"any", 1}, {"uni", 2}, {"ballot", 3}});
  modifiers.take_type();
  modifiers.finish();
  const std::uint32_t dst =
      context.destination(in.operands[0], mode == 3 ? Type::kB32 : Type::kPred);
  const std::uint32_t predicate = context.predicate(in.operands[1]);
  const std::uint32_t mask = context.source(in.operands[2], Type::kB32);
  emit_lane_op(context, exec_vote, mode, dst, kNoRegister, {predicate, mask});
  context.program().code.back().negated = in.operands[1].negated;
}

void decode_match(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 3) modifiers.unsupported();
  int mode = find_mode(modifiers, {{"any", 0}, {"all", 1}});
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (bit_width(type) != 32 && bit_width(type) != 64) modifiers.unsupported();
  if (bit_width(type) == 64 && mode >= 0) mode |= 2;
  const bool pair = in.operands[0].kind == Operand::Kind::kPair;
  const std::uint32_t dst =
      target(context, pair ? in.operands[0].elements[0] : in.operands[0], Type::kB32);
  const std::uint32_t dst2 =
      pair ? target(context, in.operands[0].elements[1], Type::kPred) : kNoRegister;
  const std::uint32_t value = context.source(in.operands[1], type);
  const std::uint32_t mask = context.source(in.operands[2], Type::kB32);
  emit_lane_op(context, exec_match, mode,
               dst == kNoRegister ? context.new_register(Type::kB32) : dst, dst2, {value, mask});
}

void decode_redux(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 3) modifiers.unsupported();
  int mode =
      find_mode(modifiers, {{"add", 0}, {"min", 1}, {"max", 2}, {"and", 5}, {"or", 6}, {"xor", 7}});
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (is_float(type)) modifiers.unsupported();
  if (type == Type::kS32 && (mode == 1 || mode == 2)) mode += 2;
  const std::uint32_t dst = context.destination(in.operands[0], Type::kB32);
  const std::uint32_t value = context.source(in.operands[1], Type::kB32);
  const std::uint32_t mask = context.source(in.operands[2], Type::kB32);
  emit_lane_op(context, exec_redux, mode, dst, kNoRegister, {value, mask});
}

void decode_elect(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || in.operands.size() != 2 ||
      in.operands[0].kind != Operand::Kind::kPair)
    modifiers.unsupported();
  modifiers.finish();
  const std::uint32_t dst = target(context, in.operands[0].elements[0], Type::kB32);
  const std::uint32_t dst2 = target(context, in.operands[0].elements[1], Type::kPred);
  const std::uint32_t mask = context.source(in.operands[1], Type::kB32);
  emit_lane_op(context, exec_elect, 0, dst, dst2, {mask});
}

void decode_branch(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 1 || in.operands[0].label < 0)
    context.fail("no label for " + in.opcode);
  Instr& out = context.emit(exec_branch, Pipe::kControl, TaintRule::kOwn);
  out.imm = 0;
  context.last_info().is_branch = true;
  context.last_info().ends_path = in.guard < 0;
  context.frame().fixups.emplace_back(context.program().code.size() - 1, in.operands[0].label);
}

void decode_indexed_branch(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 2) context.unsupported();
  const auto& lists = context.frame().function->branch_targets;
  const auto list = lists.find(in.operands[1].label);
  if (list == lists.end()) context.fail("no .branchtargets for " + in.opcode);
  const std::uint32_t index = context.source(in.operands[0], Type::kB32);
  Instr& out = context.emit(exec_indexed_branch, Pipe::kControl, TaintRule::kOwn);
  out.src[0] = index;
  context.reads(index);
  context.last_info().is_branch = true;
  context.last_info().ends_path = in.guard < 0;
  context.begin_extra();
  for (const int label : list->second) context.add_extra_label(label);
}

}  // namespace

bool decode_control(DecodeContext& context) {
  const Instruction& in = context.current();
  const std::string& name = in.parts[0];
  if (name == "bra") {
    decode_branch(context);
  } else if (name == "brx") {
    decode_indexed_branch(context);
  } else if (name == "ret" && !context.frame().is_entry) {
    context.emit(exec_branch, Pipe::kControl, TaintRule::kOwn);
    context.last_info().is_branch = true;
    context.last_info().ends_path = in.guard < 0;
    context.frame().return_fixups.push_back(context.program().code.size() - 1);
  } else if (name == "ret" || name == "exit") {
    context.emit(exec_exit, Pipe::kControl, TaintRule::kOwn);
    context.last_info().ends_path = in.guard < 0;
  } else if (name == "trap") {
    context.emit(exec_trap, Pipe::kControl, TaintRule::kOwn);
    context.last_info().ends_path = in.guard < 0;
  } else if (name == "nanosleep") {
    context.emit(exec_nanosleep, Pipe::kControl, TaintRule::kOwn);
  } else if (name == "pmevent" || name == "griddepcontrol") {
    // Hints without effect on the result of a single launch.
    context.emit(exec_nop, Pipe::kControl, TaintRule::kOwn);
  } else if (name == "activemask") {
    const std::uint32_t dst = context.destination(in.operands[0], Type::kB32);
    context.emit(exec_activemask, Pipe::kAlu, TaintRule::kAny).dst = dst;
    context.writes(dst);
  } else {
    return false;
  }
  return true;
}

bool decode_sync(DecodeContext& context) {
  const std::string& name = context.current().parts[0];
  if (name == "bar" || name == "barrier") {
    decode_barrier(context);
  } else if (name == "shfl") {
    decode_shuffle(context);
  } else if (name == "vote") {
    decode_vote(context);
  } else if (name == "match") {
    decode_match(context);
  } else if (name == "redux") {
    decode_redux(context);
  } else if (name == "elect") {
    decode_elect(context);
  } else {
    return false;
  }
  return true;
}

}  // namespace evo::ptx
