#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/ops_rounding.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_control.hpp"
#include "engine/device/virtual/execute/exec_vector.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/memory/parameter_space.hpp"

// Decodes mov, cvta, arithmetic with a directed rounding, and the instructions in alu_table().

namespace evo::ptx {
namespace {

void need_operands(DecodeContext& context, std::size_t count) {
  const Instruction& in = context.current();
  if (in.operands.size() != count)
    context.fail(in.spelling + " needs " + std::to_string(count) + " operands");
}

void emit_alu(DecodeContext& context, const AluEntry& entry) {
  const Instruction& in = context.current();
  need_operands(context, entry.srcs.size() + 1);
  AluOperands op;
  for (std::size_t i = 0; i < entry.srcs.size(); ++i) {
    const Operand& operand = in.operands[i + 1];
    op.src[i] = context.source(operand, entry.srcs[i]);
    if (operand.negated) {
      if (entry.taint != TaintRule::kSelect) context.unsupported("negated predicate operand");
      op.negated = true;
    }
  }
  const bool is_signed = !in.modifiers.empty() && in.modifiers.back().starts_with('s');
  op.dst = context.destination(in.operands[0], entry.dst, is_signed);
  context.emit(entry.fn, op, entry.pipe, entry.taint);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(entry.dst));
  for (const std::uint32_t reg : op.src) context.reads(reg);
  context.writes(op.dst);
}

std::optional<RoundedOp> rounded_op(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
      return RoundedOp::kAdd;
    case Opcode::kSub:
      return RoundedOp::kSub;
    case Opcode::kMul:
      return RoundedOp::kMul;
    case Opcode::kFma:
    case Opcode::kMad:
      return RoundedOp::kFma;
    case Opcode::kDiv:
      return RoundedOp::kDiv;
    case Opcode::kSqrt:
      return RoundedOp::kSqrt;
    case Opcode::kRcp:
      return RoundedOp::kRcp;
    default:
      return std::nullopt;
  }
}

/// Decodes arithmetic with .rz, .rm or .rp; returns false for other instructions.
bool decode_rounded(DecodeContext& context) {
  const Instruction& in = context.current();
  const auto found = rounded_op(in.opcode);
  if (!found) return false;
  Modifiers modifiers(in);
  const int mode = modifiers.take_one_of({"rz", "rm", "rp"});
  if (mode < 0) return false;
  RoundedOperands op;
  op.op = *found;
  op.rounding = static_cast<Rounding>(mode + 1);
  op.ftz = modifiers.take("ftz");
  op.sat = modifiers.take("sat");
  const Type type = modifiers.take_type();
  if (type != Type::kF32 && type != Type::kF64) return false;
  modifiers.finish();
  const bool one = op.op == RoundedOp::kSqrt || op.op == RoundedOp::kRcp;
  const std::size_t count = op.op == RoundedOp::kFma ? 3 : one ? 1 : 2;
  need_operands(context, count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    op.src[i] = context.source(in.operands[i + 1], type);
    if (in.operands[i + 1].negated) context.unsupported("negated predicate operand");
  }
  op.dst = context.destination(in.operands[0], type);
  context.emit(type == Type::kF32 ? rounded_f32 : rounded_f64, op,
               type == Type::kF32 ? Pipe::kFma : Pipe::kFp64, TaintRule::kAny);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(type));
  for (const std::uint32_t reg : op.src) context.reads(reg);
  context.writes(op.dst);
  return true;
}

Type element_type(DecodeContext& context, Type whole, std::size_t count) {
  const int bits = bit_width(whole) / static_cast<int>(count);
  switch (bits) {
    case 8:
      return Type::kB8;
    case 16:
      return Type::kB16;
    case 32:
      return Type::kB32;
    case 64:
      return Type::kB64;
    default:
      context.unsupported("vector of elements of " + std::to_string(bits) + " bits");
  }
}

void decode_pack(DecodeContext& context, Type type) {
  const Instruction& in = context.current();
  const auto& elements = in.operands[1].elements;
  const Type element = element_type(context, type, std::max<std::size_t>(elements.size(), 1));
  std::vector<std::uint32_t> sources;
  for (const Operand& operand : elements) sources.push_back(context.source(operand, element));
  PackOperands op;
  op.dst = context.destination(in.operands[0], type);
  op.parts = context.add_list(sources);
  op.part_bytes = static_cast<std::uint8_t>(bit_width(element) / 8);
  context.emit(exec_pack, op, Pipe::kMove, TaintRule::kPack);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(type));
  context.last_info().src_bytes = op.part_bytes;
  context.reads(sources);
  context.writes(op.dst);
}

void decode_unpack(DecodeContext& context, Type type) {
  const Instruction& in = context.current();
  const auto& elements = in.operands[0].elements;
  const Type element = element_type(context, type, std::max<std::size_t>(elements.size(), 1));
  UnpackOperands op;
  op.source = context.source(in.operands[1], type);
  std::vector<std::uint32_t> destinations;
  for (const Operand& operand : elements) {
    destinations.push_back(
        operand.kind == Operand::Kind::kSink ? kNoRegister : context.destination(operand, element));
  }
  op.parts = context.add_list(destinations);
  op.part_bytes = static_cast<std::uint8_t>(bit_width(element) / 8);
  context.emit(exec_unpack, op, Pipe::kMove, TaintRule::kUnpack);
  context.last_info().dst_bytes = op.part_bytes;
  context.last_info().src_bytes = static_cast<std::uint8_t>(register_bytes(type));
  context.reads(op.source);
  context.writes(destinations);
}

bool decode_clock(DecodeContext& context) {
  const Instruction& in = context.current();
  static constexpr std::array<std::string_view, 5> kClocks = {"%clock", "%clock64", "%globaltimer",
                                                              "%clock_hi", "%globaltimer_lo"};
  const Operand& operand = in.operands[1];
  const auto* found = std::ranges::find(kClocks, operand.name);
  if (operand.kind != Operand::Kind::kSymbol || found == kClocks.end()) return false;
  const auto clock = static_cast<Clock>(found - kClocks.begin());
  const bool is_wide = clock == Clock::kClock64 || clock == Clock::kGlobalTimer;
  const Type type = is_wide ? Type::kB64 : Type::kB32;
  const std::uint32_t dst = context.destination(in.operands[0], type);
  context.emit(exec_clock, ClockOperands{dst, clock}, Pipe::kAlu, TaintRule::kAny);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(type));
  context.writes(dst);
  return true;
}

/// Decodes lop3.or and lop3.and: d|p, a, b, c, table, q, where p is (d != 0) or q, or the same with
/// and.
void decode_lop3_predicate(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  CompareOperands compare{.op = Compare::kNe};
  compare.combine = static_cast<Combine>(modifiers.take_one_of({"and", "or"}) + 1);
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (compare.combine == Combine::kNone || type != Type::kB32 ||
      in.operands[0].kind != Operand::Kind::kPair)
    context.unsupported();
  AluOperands logic;
  for (std::size_t i = 0; i < 4; ++i) logic.src[i] = context.source(in.operands[i + 1], type);
  const auto& to = in.operands[0].elements;
  logic.dst = context.destination(to[0], type);
  context.emit(alu_table().entries.at("lop3.b32").fn, logic, Pipe::kAlu, TaintRule::kAny);
  for (const std::uint32_t reg : logic.src) context.reads(reg);
  context.writes(logic.dst);
  compare.a = logic.dst;
  compare.b = context.constant(0, type);
  compare.third = context.predicate(in.operands[5]);
  compare.negated = in.operands[5].negated;
  compare.holds = context.destination(to[1], Type::kPred);
  context.emit(alu_table().helpers.setp[0][2], compare, Pipe::kAlu, TaintRule::kAny);
  for (const std::uint32_t reg : {compare.a, compare.b, compare.third}) context.reads(reg);
  context.writes(compare.holds);
}

}  // namespace

/// Decodes cvta, which converts between generic addresses and addresses in a state space.
void decode_cvta(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  const bool to_space = modifiers.take("to");
  const int space = modifiers.take_one_of(
      {"global", "const", "shared", "local", "shared::cta", "param", "shared::cluster"});
  const Type type = modifiers.take_type();
  modifiers.finish();
  constexpr int kParam = 5;
  if (space < 0 || in.operands.size() != 2) modifiers.unsupported();
  const bool shared = space == 2 || space == 4 || space == 6;
  const std::uint64_t window = shared            ? kSharedWindow
                               : space == 3      ? kLocalWindow
                               : space == kParam ? kParameterWindow
                                                 : 0;
  if (window != 0 && type != Type::kU64) modifiers.unsupported("32-bit generic address");
  const auto& entries = alu_table().entries;
  const AluEntry& entry = entries.at(window == 0 ? "mov.b64" : to_space ? "sub.u64" : "add.u64");
  const std::uint32_t source = context.source(in.operands[1], Type::kB64);
  const std::uint32_t dst = context.destination(in.operands[0], Type::kB64);
  const std::uint32_t base = window == 0 ? kNoRegister : context.constant(window, Type::kB64);
  context.emit(entry.fn, AluOperands{.dst = dst, .src = {source, base}}, Pipe::kAlu,
               TaintRule::kMove);
  context.last_info().dst_bytes = 8;
  context.reads(source);
  context.reads(base);
  context.writes(dst);
}

void decode_move(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 2) {
    decode_alu(context);
    return;
  }
  Modifiers modifiers(in);
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (in.operands[1].kind == Operand::Kind::kVector) {
    decode_pack(context, type);
  } else if (in.operands[0].kind == Operand::Kind::kVector) {
    decode_unpack(context, type);
  } else if (!decode_clock(context)) {
    // alu_table() contains all other forms of mov.
    decode_alu(context);
  }
}

void decode_alu(DecodeContext& context) {
  const Instruction& in = context.current();
  const auto& entries = alu_table().entries;
  auto found = entries.find(in.spelling);
  if (found == entries.end() && in.opcode == Opcode::kLop3 && in.operands.size() == 5)
    found = entries.find("lop3.b32");
  if (found != entries.end()) {
    emit_alu(context, found->second);
  } else if (in.opcode == Opcode::kLop3 && in.operands.size() == 6) {
    decode_lop3_predicate(context);
  } else if (!decode_rounded(context)) {
    context.unsupported();
  }
}

}  // namespace evo::ptx
