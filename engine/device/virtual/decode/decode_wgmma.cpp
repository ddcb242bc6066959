#include <algorithm>
#include <array>
#include <string>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// wgmma and setmaxnreg (sm_90a).

namespace evo::ptx {
namespace {

constexpr int kWarpgroupRows = 64;
constexpr int kColumns = 8;  ///< of an n-tile

struct Spelling {
  int tiles = 0;  ///< of eight columns
  int shape = -1;
  Type a = Type::kNone;
};

/// m64nNk16 or m64nNk32: N a multiple of 8 up to 256.
Spelling take_shape(const Instruction& in, Modifiers& modifiers) {
  const auto name = std::ranges::find_if(
      in.parts, [](const std::string& part) { return part.starts_with("m64n"); });
  if (name == in.parts.end()) modifiers.unsupported();
  const std::size_t k_at = name->find('k');
  if (k_at == std::string::npos) modifiers.unsupported();
  int n = 0;
  for (std::size_t i = 4; i < k_at; ++i) n = n < 1000 ? n * 10 + ((*name)[i] - '0') : n;
  const int k = name->substr(k_at) == "k16" ? 16 : name->substr(k_at) == "k32" ? 32 : 0;
  modifiers.take(*name);
  const Type d = modifiers.take_type();
  const Type a = modifiers.take_type();
  const Type b = modifiers.take_type();
  const bool is_float = a == Type::kF16 || a == Type::kBf16 || a == Type::kE4m3 || a == Type::kE5m2;
  const int shape = find_mma_shape(k, a, b, d);
  if (d != Type::kF32) modifiers.unsupported("only f32 results");
  if (k == 0 || n < 8 || n > 256 || n % 8 != 0 || shape < 0 || !is_float) modifiers.unsupported();
  return {n / kColumns, shape, a};
}

/// Whether scale-d is the result of a comparison of literals just before that is false: what the
/// accumulators held is then not read.
bool scale_is_zero(const DecodeContext& context, const Operand& scale) {
  if (scale.kind == Operand::Kind::kInteger) return scale.bits == 0;
  const auto& body = context.function_body();
  for (const Instruction* at = &context.current(); at != body.data();) {
    --at;
    if (at->operands.empty() || at->operands[0].kind != Operand::Kind::kRegister ||
        at->operands[0].reg != scale.reg)
      continue;
    return at->opcode == "setp.ne.b32" && at->guard < 0 && !scale.negated &&
           at->operands[1].kind == Operand::Kind::kInteger &&
           at->operands[2].kind == Operand::Kind::kInteger &&
           at->operands[1].bits == at->operands[2].bits;
  }
  return false;
}

/// ±1 for a scale, 0 or 1 for a transposition.
bool take_flag(DecodeContext& context, const Operand& operand, bool is_scale) {
  const auto value = static_cast<std::int64_t>(operand.bits);
  const auto narrow = static_cast<std::int32_t>(value);
  const bool fits = is_scale ? narrow == 1 || narrow == -1 : narrow == 0 || narrow == 1;
  if (operand.kind != Operand::Kind::kInteger || !fits)
    context.fail(context.current().opcode + (is_scale ? ": a scale is 1 or -1" : ": 0 or 1"));
  return is_scale ? narrow == -1 : narrow == 1;
}

std::uint16_t take_flags(DecodeContext& context, bool a_in_registers, bool may_transpose) {
  const Instruction& in = context.current();
  const std::size_t transposes = may_transpose ? (a_in_registers ? 1U : 2U) : 0U;
  if (in.operands.size() != 6 + transposes) context.fail(in.opcode + ": number of operands");
  std::uint16_t flags = kAddress64;
  if (take_flag(context, in.operands[4], true)) flags |= kNegateA;
  if (take_flag(context, in.operands[5], true)) flags |= kNegateB;
  if (transposes == 2 && take_flag(context, in.operands[6], false)) flags |= kTransposeA;
  if (transposes >= 1 && take_flag(context, in.operands.back(), false)) flags |= kTransposeB;
  return flags;
}

void decode_product(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  const Spelling spelling = take_shape(in, modifiers);
  modifiers.finish();
  if (in.operands.size() < 6) context.fail(in.opcode + ": number of operands");
  const MmaShape& shape = mma_shape(spelling.shape);
  const bool a_in_registers = in.operands[1].kind == Operand::Kind::kVector;
  const bool may_transpose = spelling.a == Type::kF16 || spelling.a == Type::kBf16;
  const std::uint16_t flags = take_flags(context, a_in_registers, may_transpose);
  const auto d_count = static_cast<std::size_t>(spelling.tiles * shape.c_regs);
  const auto d = vector_registers(context, in.operands[0], d_count, true);
  std::vector<std::uint32_t> a;
  if (a_in_registers)
    a = vector_registers(context, in.operands[1], static_cast<std::size_t>(shape.a_regs), false);
  const std::uint32_t a_place =
      a_in_registers ? kNoRegister : context.source(in.operands[1], Type::kB64);
  const std::uint32_t b_place = context.source(in.operands[2], Type::kB64);
  const std::uint32_t scale = context.predicate(in.operands[3]);
  const bool replaces = scale_is_zero(context, in.operands[3]);
  Instr& out = context.emit(exec_wgmma, Pipe::kTensor, TaintRule::kOwn);
  out.src[0] = b_place;
  out.src[1] = a_place;
  out.src[2] = scale;
  out.negated = in.operands[3].negated;
  out.imm = spelling.shape;
  out.count = static_cast<std::uint8_t>(spelling.tiles);
  out.aux = flags;
  context.last_info().flops =
      static_cast<std::uint32_t>(2 * kWarpgroupRows / 4 * kColumns * spelling.tiles * shape.k);
  for (const std::uint32_t reg : {a_place, b_place, scale}) context.reads(reg);
  context.begin_extra();
  add_registers(context, d, true);
  add_registers(context, a, false);
  for (const std::uint32_t reg : d) {
    if (!replaces) context.reads(reg);
  }
}

void decode_wait_products(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kInteger)
    context.unsupported();
  Instr& out = context.emit(exec_wgmma_wait, Pipe::kBarrier, TaintRule::kOwn);
  out.imm = static_cast<std::int64_t>(in.operands[0].bits);
}

void need_sm_90a(DecodeContext& context) {
  if (context.program().target != "sm_90a")
    context.unsupported("needs sm_90a, the target is " + context.program().target);
}

void decode_setmaxnreg(DecodeContext& context) {
  constexpr std::uint64_t kLeast = 24;
  constexpr std::uint64_t kMost = 256;
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  const int kind = modifiers.take_one_of({"dec", "inc"});
  modifiers.take("sync");
  modifiers.take("aligned");
  modifiers.take("u32");
  modifiers.finish();
  need_sm_90a(context);
  if (kind < 0 || in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kInteger)
    context.unsupported();
  const std::uint64_t count = in.operands[0].bits;
  if (count < kLeast || count > kMost || count % 8 != 0)
    context.fail(in.opcode + ": " + std::to_string(count) +
                 " is not a multiple of 8 from 24 to 256");
  Instr& out = context.emit(exec_setmaxnreg, Pipe::kControl, TaintRule::kOwn);
  out.imm = static_cast<std::int64_t>(count);
  out.aux = static_cast<std::uint16_t>(kind);
}

}  // namespace

bool decode_wgmma(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.parts[0] == "setmaxnreg") {
    decode_setmaxnreg(context);
    return true;
  }
  if (in.parts[0] != "wgmma") return false;
  Modifiers modifiers(in);
  if (!modifiers.take("sync") || !modifiers.take("aligned")) modifiers.unsupported();
  need_sm_90a(context);
  const int kind = modifiers.take_one_of({"fence", "commit_group", "wait_group", "mma_async"});
  if (kind == 3) {
    decode_product(context, modifiers);
    return true;
  }
  if (kind < 0) modifiers.unsupported();
  modifiers.finish();
  if (kind == 2) {
    decode_wait_products(context);
  } else {
    context.emit(kind == 0 ? exec_wgmma_fence : exec_wgmma_commit, Pipe::kBarrier, TaintRule::kOwn);
  }
  return true;
}

}  // namespace evo::ptx
