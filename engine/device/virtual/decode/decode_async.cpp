#include <array>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// cp.async and mbarrier.

namespace evo::ptx {
namespace {

void decode_copy(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  const int cache = modifiers.take_one_of({"ca", "cg"});
  modifiers.take_one_of({"shared", "shared::cta"});
  const bool global = modifiers.take("global");
  modifiers.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
  modifiers.finish();
  if (cache < 0 || !global || in.operands.size() < 3 || in.operands.size() > 4)
    modifiers.unsupported();
  const Operand& size = in.operands[2];
  if (size.kind != Operand::Kind::kInteger || (size.bits != 4 && size.bits != 8 && size.bits != 16))
    context.fail("cp.async copies 4, 8 or 16 bytes");
  if (cache == 1 && size.bits != 16) context.fail("cp.async.cg copies 16 bytes");
  const auto to = context.address(in.operands[0]);
  const auto from = context.address(in.operands[1]);
  if (to.base == kNoRegister || from.base == kNoRegister) context.unsupported("constant address");
  std::uint32_t third = kNoRegister;
  std::uint16_t aux =
      static_cast<std::uint16_t>(((to.flags & kAddress64) != 0 ? kDestination64 : 0) |
                                 ((from.flags & kAddress64) != 0 ? kSource64 : 0));
  bool negated = false;
  if (in.operands.size() == 4) {
    const Operand& operand = in.operands[3];
    const bool predicate =
        operand.kind == Operand::Kind::kRegister &&
        context.type_of(context.frame().registers[static_cast<std::size_t>(operand.reg)]) ==
            Type::kPred;
    third = context.source(operand, predicate ? Type::kPred : Type::kB32);
    negated = operand.negated;
    aux |= predicate ? kAsyncIgnore : kAsyncSize;
  }
  Instr& out = context.emit(exec_cp_async, Pipe::kGlobal, TaintRule::kOwn);
  out.src[0] = to.base;
  out.src[1] = from.base;
  out.src[2] = third;
  out.imm = to.offset;
  out.extra = static_cast<std::uint32_t>(from.offset);
  out.bytes = static_cast<std::uint8_t>(size.bits);
  out.negated = negated;
  out.aux = aux;
  for (const std::uint32_t reg : {to.base, from.base, third}) context.reads(reg);
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
  Instr& out = context.emit(exec_wait_group, Pipe::kBarrier, TaintRule::kOwn);
  out.imm = keep;
}

void skip_mbarrier_words(Modifiers& modifiers) {
  modifiers.take_one_of({"release", "relaxed", "acquire"});
  modifiers.take("cta");
  if (modifiers.take("cluster") || modifiers.take("shared::cluster"))
    modifiers.unsupported("clusters");
  modifiers.take_one_of({"shared", "shared::cta"});
  modifiers.take("b64");
}

/// Emits with the address in src[0] and up to one more operand in src[1].
Instr& emit_object(DecodeContext& context, Handler fn, const Operand& address_operand,
                   std::uint32_t operand, std::uint16_t aux) {
  const auto address = context.address(address_operand);
  Instr& out = context.emit(fn, Pipe::kBarrier, TaintRule::kAny);
  out.src[0] = address.base;
  out.src[1] = operand;
  out.imm = address.offset;
  out.aux = static_cast<std::uint16_t>(aux | address.flags);
  out.space = Space::kShared;
  context.reads(address.base);
  context.reads(operand);
  return out;
}

void decode_arrive(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  std::uint16_t aux = 0;
  if (modifiers.take("expect_tx")) aux |= kMbarExpect;
  if (modifiers.take("noComplete")) aux |= kMbarNoComplete;
  skip_mbarrier_words(modifiers);
  modifiers.finish();
  const bool has_state = in.operands.size() > 1 && in.operands[1].kind == Operand::Kind::kAddress;
  const std::size_t at = has_state ? 1 : 0;
  std::uint32_t operand = kNoRegister;
  if (in.operands.size() > at + 1) {
    operand = context.source(in.operands[at + 1], Type::kB32);
    if ((aux & kMbarExpect) == 0) aux |= kMbarCount;
  } else if ((aux & kMbarExpect) != 0) {
    context.fail(in.opcode + " needs a number of bytes");
  }
  const std::uint32_t dst = has_state && in.operands[0].kind != Operand::Kind::kSink
                                ? context.destination(in.operands[0], Type::kB64)
                                : kNoRegister;
  emit_object(context, exec_mbarrier_arrive, in.operands[at], operand, aux).dst = dst;
  context.last_info().dst_bytes = 8;
  context.writes(dst);
}

void decode_wait_object(DecodeContext& context, Modifiers& modifiers, bool is_try) {
  const Instruction& in = context.current();
  std::uint16_t aux = is_try ? kMbarTry : 0;
  if (modifiers.take("parity")) aux |= kMbarParity;
  skip_mbarrier_words(modifiers);
  modifiers.finish();
  if (in.operands.size() < 3) context.unsupported();
  const std::uint32_t phase =
      context.source(in.operands[2], (aux & kMbarParity) != 0 ? Type::kB32 : Type::kB64);
  const std::uint32_t dst = context.destination(in.operands[0], Type::kPred);
  emit_object(context, exec_mbarrier_wait, in.operands[1], phase, aux).dst = dst;
  context.last_info().dst_bytes = 4;
  context.writes(dst);
}

void decode_mbarrier(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (in.operands.empty()) modifiers.unsupported();
  if (modifiers.take("init")) {
    skip_mbarrier_words(modifiers);
    modifiers.finish();
    const std::uint32_t count = context.source(in.operands[1], Type::kB32);
    emit_object(context, exec_mbarrier_init, in.operands[0], count, 0);
  } else if (modifiers.take("inval")) {
    skip_mbarrier_words(modifiers);
    modifiers.finish();
    emit_object(context, exec_mbarrier_inval, in.operands[0], kNoRegister, 0);
  } else if (modifiers.take("arrive")) {
    decode_arrive(context, modifiers);
  } else if (modifiers.take("test_wait")) {
    decode_wait_object(context, modifiers, false);
  } else if (modifiers.take("try_wait")) {
    decode_wait_object(context, modifiers, true);
  } else if (const int tx = modifiers.take_one_of({"expect_tx", "complete_tx"}); tx >= 0) {
    skip_mbarrier_words(modifiers);
    modifiers.finish();
    const std::uint32_t bytes = context.source(in.operands[1], Type::kB32);
    emit_object(
        context, exec_mbarrier_arrive, in.operands[0], bytes,
        static_cast<std::uint16_t>(kMbarNoArrive | (tx == 0 ? kMbarExpect : kMbarComplete)));
  } else {
    modifiers.unsupported();
  }
}

}  // namespace

bool decode_async(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.parts[0] == "mbarrier") {
    decode_mbarrier(context);
    return true;
  }
  if (in.parts[0] != "cp") return false;
  Modifiers modifiers(in);
  if (!modifiers.take("async") || modifiers.take("bulk")) modifiers.unsupported();
  if (modifiers.take("commit_group")) {
    modifiers.finish();
    context.emit(exec_commit_group, Pipe::kControl, TaintRule::kOwn);
  } else if (modifiers.take("wait_group")) {
    decode_wait(context, modifiers, false);
  } else if (modifiers.take("wait_all")) {
    decode_wait(context, modifiers, true);
  } else if (modifiers.take("mbarrier")) {
    if (!modifiers.take("arrive")) modifiers.unsupported();
    const std::uint16_t aux = modifiers.take("noinc") ? kMbarNoInc : 0;
    skip_mbarrier_words(modifiers);
    modifiers.finish();
    emit_object(context, exec_cp_async_mbarrier_arrive, in.operands[0], kNoRegister, aux);
  } else {
    decode_copy(context, modifiers);
  }
  return true;
}

}  // namespace evo::ptx
