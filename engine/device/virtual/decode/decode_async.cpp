
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_async.hpp"
#include "engine/device/virtual/execute/exec_mbarrier.hpp"

// Decodes cp.async and mbarrier.

namespace evo::ptx {
namespace {

void decode_copy(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  const int cache = modifiers.take_one_of({"ca", "cg"});
  modifiers.take_one_of({"shared", "shared::cta"});
  const bool global = modifiers.take("global");
  const std::size_t operands = modifiers.skip_cache_hints();
  modifiers.finish();
  if (cache < 0 || !global || operands < 3 || operands > 4) modifiers.unsupported();
  const Operand& size = in.operands[2];
  if (size.kind != Operand::Kind::kInteger || (size.bits != 4 && size.bits != 8 && size.bits != 16))
    context.fail("cp.async copies 4, 8 or 16 bytes");
  if (cache == 1 && size.bits != 16) context.fail("cp.async.cg copies 16 bytes");
  const auto to = context.address(in.operands[0]);
  const auto from = context.address(in.operands[1]);
  if (to.at.base == kNoRegister || from.at.base == kNoRegister)
    context.unsupported("constant address");
  CopyOperands op;
  op.to = to.at;
  op.from = from.at;
  op.bytes = static_cast<std::uint8_t>(size.bits);
  if (operands == 4) {
    const Operand& operand = in.operands[3];
    const bool predicate =
        operand.kind == Operand::Kind::kRegister &&
        context.type_of(context.frame().registers[static_cast<std::size_t>(operand.reg)]) ==
            Type::kPred;
    op.size_or_ignore = context.source(operand, predicate ? Type::kPred : Type::kB32);
    op.size = predicate ? CopySize::kIgnore : CopySize::kBytes;
    op.negated = operand.negated;
  }
  context.emit(exec_cp_async, op, Pipe::kGlobal, TaintRule::kOwn);
  for (const std::uint32_t reg : {op.to.base, op.from.base, op.size_or_ignore}) context.reads(reg);
  context.narrow_shared_granule(static_cast<int>(size.bits));
}

void decode_wait(DecodeContext& context, Modifiers& modifiers, bool all) {
  const Instruction& in = context.current();
  modifiers.finish();
  std::int64_t keep = -1;
  if (!all) {
    if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kInteger)
      context.unsupported();
    keep = static_cast<std::int64_t>(in.operands[0].bits);
  }
  context.emit(exec_wait_group, WaitGroupOperands{keep}, Pipe::kBarrier, TaintRule::kOwn);
}

/// Consumes the modifiers for order, scope, space and type of an mbarrier instruction. Returns true
/// if the mbarrier may be in another CTA of the cluster.
bool take_mbarrier_words(const DecodeContext& context, Modifiers& modifiers) {
  modifiers.take_one_of({"release", "relaxed", "acquire"});
  modifiers.take_one_of({"cta", "cluster"});
  modifiers.take("b64");
  const bool in_cluster = modifiers.take("shared::cluster");
  modifiers.take_one_of({"shared", "shared::cta"});
  return in_cluster && context.program().cluster_ctas() > 1;
}

void decode_init(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  take_mbarrier_words(context, modifiers);
  modifiers.finish();
  MbarrierInitOperands op;
  op.count = context.source(in.operands[1], Type::kB32);
  op.object = context.address(in.operands[0]).at;
  context.emit(exec_mbarrier_init, op, Pipe::kBarrier, TaintRule::kAny);
  context.reads(op.object.base);
  context.reads(op.count);
}

void decode_inval(DecodeContext& context, Modifiers& modifiers) {
  take_mbarrier_words(context, modifiers);
  modifiers.finish();
  const Address object = context.address(context.current().operands[0]).at;
  context.emit(exec_mbarrier_inval, MbarrierInvalOperands{object}, Pipe::kBarrier, TaintRule::kAny);
  context.reads(object.base);
}

void emit_arrive(DecodeContext& context, const MbarrierArriveOperands& op) {
  context.emit(exec_mbarrier_arrive, op, Pipe::kBarrier, TaintRule::kAny);
  context.reads(op.object.base);
  context.reads(op.operand);
  context.writes(op.dst);
}

void decode_arrive(DecodeContext& context, Modifiers& modifiers, bool drops) {
  const Instruction& in = context.current();
  const bool expects = modifiers.take("expect_tx");
  modifiers.take("noComplete");
  const bool in_cluster = take_mbarrier_words(context, modifiers);
  modifiers.finish();
  const bool has_state = in.operands.size() > 1 && in.operands[1].kind == Operand::Kind::kAddress;
  const std::size_t at = has_state ? 1 : 0;
  MbarrierArriveOperands op;
  op.in_cluster = in_cluster;
  op.drops = drops;
  if (in.operands.size() > at + 1) {
    op.operand = context.source(in.operands[at + 1], Type::kB32);
    op.kind = expects ? ArriveOperand::kExpectedBytes : ArriveOperand::kCount;
  } else if (expects) {
    context.fail(in.spelling + " needs a number of bytes");
  }
  if (has_state && in.operands[0].kind != Operand::Kind::kSink)
    op.dst = context.destination(in.operands[0], Type::kB64);
  op.object = context.address(in.operands[at]).at;
  emit_arrive(context, op);
  context.last_info().dst_bytes = 8;
}

/// Decodes mbarrier.expect_tx and mbarrier.complete_tx, which change the expected bytes without an
/// arrival.
void decode_transaction(DecodeContext& context, Modifiers& modifiers, ArriveOperand kind) {
  const Instruction& in = context.current();
  MbarrierArriveOperands op;
  op.in_cluster = take_mbarrier_words(context, modifiers);
  modifiers.finish();
  op.operand = context.source(in.operands[1], Type::kB32);
  op.kind = kind;
  op.arrives = false;
  op.object = context.address(in.operands[0]).at;
  emit_arrive(context, op);
}

void decode_wait_object(DecodeContext& context, Modifiers& modifiers, bool is_try) {
  const Instruction& in = context.current();
  MbarrierWaitOperands op;
  op.is_try = is_try;
  op.is_parity = modifiers.take("parity");
  take_mbarrier_words(context, modifiers);
  modifiers.finish();
  if (in.operands.size() < 3) context.unsupported();
  op.phase = context.source(in.operands[2], op.is_parity ? Type::kB32 : Type::kB64);
  op.dst = context.destination(in.operands[0], Type::kPred);
  op.object = context.address(in.operands[1]).at;
  context.emit(exec_mbarrier_wait, op, Pipe::kBarrier, TaintRule::kAny);
  context.last_info().dst_bytes = 4;
  context.reads(op.object.base);
  context.reads(op.phase);
  context.writes(op.dst);
}

/// Decodes cp.async.mbarrier.arrive.
void decode_copy_arrive(DecodeContext& context, Modifiers& modifiers) {
  if (!modifiers.take("arrive")) modifiers.unsupported();
  CopyArriveOperands op;
  op.increments = !modifiers.take("noinc");
  take_mbarrier_words(context, modifiers);
  modifiers.finish();
  op.object = context.address(context.current().operands[0]).at;
  context.emit(exec_cp_async_mbarrier_arrive, op, Pipe::kBarrier, TaintRule::kAny);
  context.reads(op.object.base);
}

}  // namespace

void decode_mbarrier(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (in.operands.empty()) modifiers.unsupported();
  if (modifiers.take("init")) {
    decode_init(context, modifiers);
  } else if (modifiers.take("inval")) {
    decode_inval(context, modifiers);
  } else if (modifiers.take("arrive")) {
    decode_arrive(context, modifiers, false);
  } else if (modifiers.take("arrive_drop")) {
    decode_arrive(context, modifiers, true);
  } else if (modifiers.take("test_wait")) {
    decode_wait_object(context, modifiers, false);
  } else if (modifiers.take("try_wait")) {
    decode_wait_object(context, modifiers, true);
  } else if (modifiers.take("expect_tx")) {
    decode_transaction(context, modifiers, ArriveOperand::kExpectedBytes);
  } else if (modifiers.take("complete_tx")) {
    decode_transaction(context, modifiers, ArriveOperand::kCompletedBytes);
  } else if (modifiers.take("pending_count")) {
    decode_alu(context);
  } else {
    modifiers.unsupported();
  }
}

void decode_cp_async(DecodeContext& context) {
  Modifiers modifiers(context.current());
  if (!modifiers.take("async")) modifiers.unsupported();
  if (modifiers.take("bulk")) {
    decode_bulk(context, modifiers);
    return;
  }
  if (modifiers.take("commit_group")) {
    modifiers.finish();
    context.emit(exec_commit_group, NoOperands(), Pipe::kControl, TaintRule::kOwn);
  } else if (modifiers.take("wait_group")) {
    decode_wait(context, modifiers, false);
  } else if (modifiers.take("wait_all")) {
    decode_wait(context, modifiers, true);
  } else if (modifiers.take("mbarrier")) {
    decode_copy_arrive(context, modifiers);
  } else {
    decode_copy(context, modifiers);
  }
}

}  // namespace evo::ptx
