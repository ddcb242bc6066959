#include <algorithm>
#include <string>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_wgmma.hpp"

// Decodes wgmma and setmaxnreg (sm_90a).

namespace evo::ptx {
namespace {

constexpr int kWarpgroupRows = 64;
constexpr int kTileColumns = 8;

struct ShapeSpelling {
  int tiles = 0;  ///< number of tiles of eight columns
  const MmaShape* shape = nullptr;
};

/// Consumes the shape of the product: m64nNk16 or m64nNk32, where N is a multiple of 8 up to 256.
ShapeSpelling take_shape(const Instruction& in, Modifiers& modifiers) {
  const auto name = std::ranges::find_if(
      in.modifiers, [](const std::string& word) { return word.starts_with("m64n"); });
  if (name == in.modifiers.end()) modifiers.unsupported();
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
  const MmaShape* shape = find_mma_shape(k, a, b, d);
  if (d != Type::kF32) modifiers.unsupported("only f32 results");
  if (k == 0 || n < 8 || n > 256 || n % 8 != 0 || shape == nullptr || !is_float)
    modifiers.unsupported();
  return {n / kTileColumns, shape};
}

/// True if the previous content of the accumulators is not read, because scale-d is 0, or because
/// scale-d is the false result of a comparison of literals in a preceding instruction.
bool scale_is_zero(const DecodeContext& context, const Operand& scale) {
  if (scale.kind == Operand::Kind::kInteger) return scale.bits == 0;
  static const std::vector<std::string> comparison = {"ne", "b32"};
  const auto& body = context.function_body();
  for (const Instruction* at = &context.current(); at != body.data();) {
    --at;
    if (at->operands.empty() || at->operands[0].kind != Operand::Kind::kRegister ||
        at->operands[0].reg != scale.reg)
      continue;
    return at->opcode == Opcode::kSetp && at->modifiers == comparison && at->guard < 0 &&
           !scale.negated && at->operands[1].kind == Operand::Kind::kInteger &&
           at->operands[2].kind == Operand::Kind::kInteger &&
           at->operands[1].bits == at->operands[2].bits;
  }
  return false;
}

/// Converts a literal operand to a flag: a scale, which must be 1 (false) or −1 (true), or a
/// transposition, which must be 0 or 1.
bool take_flag(DecodeContext& context, const Operand& operand, bool is_scale) {
  const auto value = static_cast<std::int64_t>(operand.bits);
  const auto narrow = static_cast<std::int32_t>(value);
  const bool fits = is_scale ? narrow == 1 || narrow == -1 : narrow == 0 || narrow == 1;
  if (operand.kind != Operand::Kind::kInteger || !fits) {
    context.fail(context.current().spelling +
                 (is_scale ? ": a scale is 1 or -1" : ": a transposition flag is 0 or 1"));
  }
  return is_scale ? narrow == -1 : narrow == 1;
}

void take_flags(DecodeContext& context, bool a_in_registers, WgmmaOperands& op) {
  const bool may_transpose = op.shape->a == Type::kF16 || op.shape->a == Type::kBf16;
  const Instruction& in = context.current();
  const std::size_t transposes = may_transpose ? (a_in_registers ? 1U : 2U) : 0U;
  if (in.operands.size() != 6 + transposes)
    context.fail(in.spelling + " has the wrong number of operands");
  op.negates_a = take_flag(context, in.operands[4], true);
  op.negates_b = take_flag(context, in.operands[5], true);
  op.transposes_a = transposes == 2 && take_flag(context, in.operands[6], false);
  op.transposes_b = transposes >= 1 && take_flag(context, in.operands.back(), false);
}

void decode_product(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  const ShapeSpelling spelling = take_shape(in, modifiers);
  modifiers.finish();
  if (in.operands.size() < 6) context.fail(in.spelling + " has too few operands");
  const MmaShape& shape = *spelling.shape;
  WgmmaOperands op;
  op.shape = &shape;
  op.tiles = static_cast<std::uint8_t>(spelling.tiles);
  const bool a_in_registers = in.operands[1].kind == Operand::Kind::kVector;
  take_flags(context, a_in_registers, op);
  const int registers = spelling.tiles * shape.c_regs;
  const auto d_count = static_cast<std::size_t>(registers);
  const auto d = vector_registers(context, in.operands[0], d_count, true);
  std::vector<std::uint32_t> a;
  if (a_in_registers) {
    a = vector_registers(context, in.operands[1], static_cast<std::size_t>(shape.a_regs), false);
  } else {
    op.a = context.source(in.operands[1], Type::kB64);
  }
  op.b = context.source(in.operands[2], Type::kB64);
  op.scale = context.predicate(in.operands[3]);
  op.negated_scale = in.operands[3].negated;
  const bool replaces = scale_is_zero(context, in.operands[3]);
  std::vector<std::uint32_t> all = d;
  all.insert(all.end(), a.begin(), a.end());
  op.registers = context.add_list(all);
  context.emit(exec_wgmma, op, Pipe::kTensor, TaintRule::kOwn);
  context.last_info().flops =
      static_cast<std::uint32_t>(2 * kWarpgroupRows / 4 * kTileColumns * spelling.tiles * shape.k);
  context.last_info().is_fp8 = is_fp8(shape.a);
  for (const std::uint32_t reg : {op.a, op.b, op.scale}) context.reads(reg);
  context.writes(d);
  context.reads(a);
  if (!replaces) context.reads(d);
}

void decode_wait_products(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kInteger)
    context.unsupported();
  context.emit(exec_wgmma_wait, WgmmaWaitOperands{static_cast<std::int64_t>(in.operands[0].bits)},
               Pipe::kBarrier, TaintRule::kOwn);
}

void need_sm_90a(DecodeContext& context) {
  if (context.program().target != "sm_90a")
    context.unsupported("needs sm_90a, the target is " + context.program().target);
}

}  // namespace

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
  if (kind < 0 || in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kInteger) {
    context.unsupported();
  }
  const std::uint64_t count = in.operands[0].bits;
  if (count < kLeast || count > kMost || count % 8 != 0) {
    context.fail(in.spelling + ": " + std::to_string(count) +
                 " is not a multiple of 8 from 24 to 256");
  }
  context.emit(exec_setmaxnreg, SetmaxnregOperands{static_cast<std::uint32_t>(count), kind == 1},
               Pipe::kControl, TaintRule::kOwn);
}

void decode_wgmma(DecodeContext& context) {
  Modifiers modifiers(context.current());
  if (!modifiers.take("sync") || !modifiers.take("aligned")) modifiers.unsupported();
  need_sm_90a(context);
  const int kind = modifiers.take_one_of({"fence", "commit_group", "wait_group", "mma_async"});
  if (kind == 3) {
    decode_product(context, modifiers);
    return;
  }
  if (kind < 0) modifiers.unsupported();
  modifiers.finish();
  if (kind == 2) {
    decode_wait_products(context);
  } else {
    context.emit(kind == 0 ? exec_wgmma_fence : exec_wgmma_commit, NoOperands(), Pipe::kBarrier,
                 TaintRule::kOwn);
  }
}

}  // namespace evo::ptx
