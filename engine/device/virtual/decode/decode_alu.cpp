#include <algorithm>
#include <array>
#include <string>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/ops_rounding.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

// mov in all its forms, and everything the table of lane-wise instructions spells out.

namespace evo::ptx {
namespace {

std::size_t count_of(const AluEntry& entry) { return entry.srcs.size(); }

void emit_alu(DecodeContext& context, const AluEntry& entry, std::uint16_t aux) {
  const Instruction& in = context.current();
  if (in.operands.size() != count_of(entry) + 1)
    context.fail(in.opcode + " needs " + std::to_string(count_of(entry) + 1) + " operands");
  std::array<std::uint32_t, 4> sources{kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  bool negated = false;
  for (std::size_t i = 0; i < count_of(entry); ++i) {
    const Operand& operand = in.operands[i + 1];
    sources[i] = context.source(operand, entry.srcs[i]);
    if (operand.negated) {
      if (entry.taint != TaintRule::kSelect) context.unsupported("negated predicate operand");
      negated = true;
    }
  }
  const bool is_signed =
      in.parts.back().starts_with('s') || (in.parts[0] == "mul" && in.parts.back() == "s16");
  const std::uint32_t dst = context.destination(in.operands[0], entry.dst, is_signed);
  Instr& out = context.emit(entry.fn, entry.pipe, entry.taint);
  out.dst = dst;
  out.negated = negated;
  out.aux = aux;
  std::copy(sources.begin(), sources.end(), out.src);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(entry.dst));
  for (const std::uint32_t reg : sources) context.reads(reg);
  context.writes(dst);
}

/// add.cc, addc, sub.cc …: flags for carry_add.
std::uint16_t carry_flags(const Instruction& in) {
  std::uint16_t flags = 0;
  if (std::ranges::find(in.parts, "cc") != in.parts.end()) flags |= 1;
  if (in.parts[0] == "addc" || in.parts[0] == "subc") flags |= 2;
  if (in.parts[0].starts_with("sub")) flags |= 4;
  return flags;
}

/// Arithmetic with .rz, .rm or .rp.
bool decode_rounded(DecodeContext& context) {
  const Instruction& in = context.current();
  static constexpr std::array<std::pair<std::string_view, SlowOp>, 8> kOps = {
      {{"add", SlowOp::kAdd},
       {"sub", SlowOp::kSub},
       {"mul", SlowOp::kMul},
       {"fma", SlowOp::kFma},
       {"mad", SlowOp::kFma},
       {"div", SlowOp::kDiv},
       {"sqrt", SlowOp::kSqrt},
       {"rcp", SlowOp::kRcp}}};
  const auto* op =
      std::ranges::find(kOps, in.parts[0], &std::pair<std::string_view, SlowOp>::first);
  if (op == kOps.end()) return false;
  Modifiers modifiers(in);
  const int mode = modifiers.take_one_of({"rz", "rm", "rp"});
  if (mode < 0) return false;
  auto aux = static_cast<std::uint16_t>(static_cast<int>(op->second) << kSlowShift | (mode + 1));
  if (modifiers.take("ftz")) aux |= kFtz;
  if (modifiers.take("sat")) aux |= kSat;
  const Type type = modifiers.take_type();
  if (type != Type::kF32 && type != Type::kF64) return false;
  modifiers.finish();
  const std::size_t count = op->second == SlowOp::kFma                                  ? 3
                            : op->second == SlowOp::kSqrt || op->second == SlowOp::kRcp ? 1
                                                                                        : 2;
  const AluEntry entry{type == Type::kF32 ? rounded_f32 : rounded_f64, type,
                       std::vector<Type>(count, type), TaintRule::kAny,
                       type == Type::kF32 ? Pipe::kFma : Pipe::kFp64};
  emit_alu(context, entry, aux);
  return true;
}

Type element_type(DecodeContext& context, Type whole, std::size_t count) {
  const int bits = bit_width(whole) / static_cast<int>(count);
  switch (bits) {
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
  const std::uint32_t dst = context.destination(in.operands[0], type);
  Instr& out = context.emit(exec_pack, Pipe::kMove, TaintRule::kPack);
  out.dst = dst;
  out.bytes = static_cast<std::uint8_t>(register_bytes(element));
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(type));
  context.last_info().src_bytes = out.bytes;
  context.begin_extra();
  for (const std::uint32_t reg : sources) {
    context.add_extra(reg);
    context.reads(reg);
  }
  context.writes(dst);
}

void decode_unpack(DecodeContext& context, Type type) {
  const Instruction& in = context.current();
  const auto& elements = in.operands[0].elements;
  const Type element = element_type(context, type, std::max<std::size_t>(elements.size(), 1));
  const std::uint32_t source = context.source(in.operands[1], type);
  std::vector<std::uint32_t> destinations;
  for (const Operand& operand : elements) {
    destinations.push_back(
        operand.kind == Operand::Kind::kSink ? kNoRegister : context.destination(operand, element));
  }
  Instr& out = context.emit(exec_unpack, Pipe::kMove, TaintRule::kUnpack);
  out.src[0] = source;
  out.bytes = static_cast<std::uint8_t>(register_bytes(element));
  context.last_info().dst_bytes = out.bytes;
  context.last_info().src_bytes = static_cast<std::uint8_t>(register_bytes(type));
  context.reads(source);
  context.begin_extra();
  for (const std::uint32_t reg : destinations) {
    context.add_extra(reg);
    context.writes(reg);
  }
}

bool decode_clock(DecodeContext& context) {
  const Instruction& in = context.current();
  static constexpr std::array<std::string_view, 5> kClocks = {"%clock", "%clock64", "%globaltimer",
                                                              "%clock_hi", "%globaltimer_lo"};
  const Operand& operand = in.operands[1];
  const auto* found = std::ranges::find(kClocks, operand.name);
  if (operand.kind != Operand::Kind::kSymbol || found == kClocks.end()) return false;
  const auto kind = static_cast<std::uint16_t>(found - kClocks.begin());
  const Type type = kind == 1 || kind == 2 ? Type::kB64 : Type::kB32;
  const std::uint32_t dst = context.destination(in.operands[0], type);
  Instr& out = context.emit(exec_clock, Pipe::kAlu, TaintRule::kAny);
  out.dst = dst;
  out.aux = kind;
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(type));
  context.writes(dst);
  return true;
}

/// cvta moves between a state space's window and generic addresses.
void decode_cvta(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  const bool to_space = modifiers.take("to");
  const int space =
      modifiers.take_one_of({"global", "const", "shared", "local", "shared::cta", "param"});
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (space < 0 || space == 5 || in.operands.size() != 2) modifiers.unsupported();
  const bool shared = space == 2 || space == 4;
  const std::uint64_t window = shared ? kSharedWindow : space == 3 ? kLocalWindow : 0;
  if (window != 0 && type != Type::kU64) modifiers.unsupported("32-bit generic address");
  const auto& entries = alu_table().entries;
  const AluEntry& entry = entries.at(window == 0 ? "mov.b64" : to_space ? "sub.u64" : "add.u64");
  const std::uint32_t source = context.source(in.operands[1], Type::kB64);
  const std::uint32_t dst = context.destination(in.operands[0], Type::kB64);
  const std::uint32_t base = window == 0 ? kNoRegister : context.constant(window, Type::kB64);
  Instr& out = context.emit(entry.fn, Pipe::kAlu, TaintRule::kMove);
  out.dst = dst;
  out.src[0] = source;
  out.src[1] = base;
  context.last_info().dst_bytes = 8;
  context.reads(source);
  context.reads(base);
  context.writes(dst);
}

}  // namespace

bool decode_move(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.parts[0] == "cvta") {
    decode_cvta(context);
    return true;
  }
  if (in.parts[0] != "mov" || in.operands.size() != 2) return false;
  Modifiers modifiers(in);
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (in.operands[1].kind == Operand::Kind::kVector) {
    decode_pack(context, type);
    return true;
  }
  if (in.operands[0].kind == Operand::Kind::kVector) {
    decode_unpack(context, type);
    return true;
  }
  if (decode_clock(context)) return true;
  // A move of a wider or narrower special register; everything else is in the table.
  return decode_alu(context);
}

bool decode_alu(DecodeContext& context) {
  const Instruction& in = context.current();
  const auto& entries = alu_table().entries;
  auto found = entries.find(in.opcode);
  if (found == entries.end() && in.parts[0] == "lop3" && in.operands.size() == 5)
    found = entries.find("lop3.b32");
  if (found != entries.end()) {
    emit_alu(context, found->second, carry_flags(in));
    return true;
  }
  return decode_rounded(context);
}

}  // namespace evo::ptx
