#include <array>

#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// ldmatrix, stmatrix, movmatrix, mma.sync and wmma.

namespace evo::ptx {

std::vector<std::uint32_t> vector_registers(DecodeContext& context, const Operand& operand,
                                            std::size_t count, bool write) {
  std::vector<std::uint32_t> regs;
  const std::vector<Operand> single = {operand};
  const auto& elements = operand.kind == Operand::Kind::kVector ? operand.elements : single;
  if (elements.size() != count)
    context.fail(context.current().opcode + " needs " + std::to_string(count) +
                 " registers here, has " + std::to_string(elements.size()));
  for (const Operand& element : elements) {
    regs.push_back(write ? context.destination(element, Type::kB32)
                         : context.source(element, Type::kB32));
  }
  return regs;
}

void add_registers(DecodeContext& context, const std::vector<std::uint32_t>& regs, bool write) {
  for (const std::uint32_t reg : regs) {
    context.add_extra(reg);
    write ? context.writes(reg) : context.reads(reg);
  }
}

namespace {

void decode_matrix_move(DecodeContext& context, bool is_load) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  modifiers.take("sync");
  modifiers.take("aligned");
  if (!modifiers.take("m8n8")) modifiers.unsupported();
  const int count = modifiers.take_one_of({"x1", "x2", "x4"});
  const bool transposed = modifiers.take("trans");
  modifiers.take_one_of({"shared", "shared::cta"});
  if (!modifiers.take("b16") || count < 0 || in.operands.size() != 2) modifiers.unsupported();
  modifiers.finish();
  const auto address = context.address(in.operands[is_load ? 1 : 0]);
  const auto regs = vector_registers(context, in.operands[is_load ? 0 : 1], 1U << count, is_load);
  Instr& out =
      context.emit(is_load ? exec_ldmatrix : exec_stmatrix, Pipe::kShared, TaintRule::kOwn);
  out.src[0] = address.base;
  out.imm = address.offset;
  out.aux = static_cast<std::uint16_t>(address.flags | (transposed ? kTransposed : 0));
  out.count = static_cast<std::uint8_t>(1U << count);
  out.bytes = 16;
  out.space = Space::kShared;
  context.reads(address.base);
  context.begin_extra();
  add_registers(context, regs, is_load);
}

void check_fp8(DecodeContext& context, Type type) {
  if ((type == Type::kE4m3 || type == Type::kE5m2) &&
      !mma_numerics(context.program().target).has_fp8) {
    context.unsupported("fp8 matrices need sm_89 or newer, the target is " +
                        context.program().target);
  }
}

void decode_mma(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  modifiers.take("sync");
  modifiers.take("aligned");
  const int shape = modifiers.take_one_of({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  static constexpr std::array kDepths = {4, 8, 16, 32};
  if (shape < 0 || !modifiers.take("row") || !modifiers.take("col")) modifiers.unsupported();
  const bool saturate = modifiers.take("satfinite");
  modifiers.take_one_of({"kind::f8f6f4"});
  const Type d = modifiers.take_type();
  const Type a = modifiers.take_type();
  const Type b = modifiers.take_type();
  const Type c = modifiers.take_type();
  modifiers.finish();
  const int index = find_mma_shape(kDepths[static_cast<std::size_t>(shape)], a, b, c);
  if (index < 0 || d != c || in.operands.size() != 4) modifiers.unsupported();
  check_fp8(context, a);
  const MmaShape& s = mma_shape(index);
  const auto rd =
      vector_registers(context, in.operands[0], static_cast<std::size_t>(s.c_regs), true);
  const auto ra =
      vector_registers(context, in.operands[1], static_cast<std::size_t>(s.a_regs), false);
  const auto rb =
      vector_registers(context, in.operands[2], static_cast<std::size_t>(s.b_regs), false);
  const auto rc =
      vector_registers(context, in.operands[3], static_cast<std::size_t>(s.c_regs), false);
  Instr& out = context.emit(exec_mma, Pipe::kTensor, TaintRule::kOwn);
  out.imm = index;
  out.aux = saturate ? 1 : 0;
  context.last_info().flops = static_cast<std::uint32_t>(2 * 16 * 8 * s.k);
  context.begin_extra();
  add_registers(context, rd, true);
  add_registers(context, ra, false);
  add_registers(context, rb, false);
  add_registers(context, rc, false);
}

std::size_t wmma_registers(WmmaPart part, Type type) {
  if (part == WmmaPart::kC) return type == Type::kF32 ? 8 : 4;
  return type == Type::kF16 ? 8 : 4;
}

std::size_t wmma_registers(const WmmaShape& shape, WmmaPart part) {
  if (part == WmmaPart::kC) return static_cast<std::size_t>(shape.c_regs());
  if (shape.ab == Type::kF16) return 8;
  return static_cast<std::size_t>(part == WmmaPart::kA ? shape.a_regs() : shape.b_regs());
}

std::string_view wmma_sizes(Modifiers& modifiers) {
  constexpr std::array<std::string_view, 4> kSizes = {"m16n16k16", "m8n32k16", "m32n8k16",
                                                      "m16n16k8"};
  const int found = modifiers.take_one_of({kSizes[0], kSizes[1], kSizes[2], kSizes[3]});
  if (found < 0) modifiers.unsupported("only m16n16k16, m8n32k16, m32n8k16 and m16n16k8");
  return kSizes[static_cast<std::size_t>(found)];
}

/// A shape that is not m16n16k16 of f16 or bf16.
void decode_wmma_shape(DecodeContext& context, int index, bool saturate) {
  const Instruction& in = context.current();
  const WmmaShape& shape = wmma_shape(index);
  const std::size_t a = wmma_registers(shape, WmmaPart::kA);
  const std::size_t b = wmma_registers(shape, WmmaPart::kB);
  const std::size_t cd = wmma_registers(shape, WmmaPart::kC);
  const auto rd = vector_registers(context, in.operands[0], cd, true);
  const auto ra = vector_registers(context, in.operands[1], a, false);
  const auto rb = vector_registers(context, in.operands[2], b, false);
  const auto rc = vector_registers(context, in.operands[3], cd, false);
  Instr& out = context.emit(exec_wmma_shape_mma, Pipe::kTensor, TaintRule::kOwn);
  out.imm = index;
  out.bytes = static_cast<std::uint8_t>(a);
  out.count = static_cast<std::uint8_t>(b);
  out.aux = saturate ? kWmmaSaturate : 0;
  context.last_info().flops = static_cast<std::uint32_t>(2 * shape.m * shape.n * shape.k);
  context.begin_extra();
  add_registers(context, rd, true);
  add_registers(context, ra, false);
  add_registers(context, rb, false);
  add_registers(context, rc, false);
}

void decode_wmma_move(DecodeContext& context, Modifiers& modifiers, bool is_load) {
  const Instruction& in = context.current();
  const int part_name =
      is_load ? modifiers.take_one_of({"a", "b", "c"}) : modifiers.take_one_of({"d"}) + 2;
  modifiers.take("sync");
  modifiers.take("aligned");
  const int layout = modifiers.take_one_of({"row", "col"});
  const std::string_view mnk = wmma_sizes(modifiers);
  const int space = modifiers.take_one_of({"global", "shared", "shared::cta"});
  const Type type = modifiers.take_type();
  modifiers.finish();
  const auto part = static_cast<WmmaPart>(part_name);
  const bool is_plain =
      mnk == "m16n16k16" &&
      (type == Type::kF16 || (part == WmmaPart::kC ? type == Type::kF32 : type == Type::kBf16));
  const int shape = is_plain ? -1 : find_wmma_fragment(mnk, part, type);
  if (part_name < 0 || layout < 0 || (!is_plain && shape < 0) || in.operands.size() < 2 ||
      in.operands.size() > 3)
    modifiers.unsupported();
  const auto address = context.address(in.operands[is_load ? 1 : 0]);
  const auto regs = vector_registers(
      context, in.operands[is_load ? 0 : 1],
      is_plain ? wmma_registers(part, type) : wmma_registers(wmma_shape(shape), part), is_load);
  const std::uint32_t stride =
      in.operands.size() == 3 ? context.source(in.operands[2], Type::kB32) : kNoRegister;
  Instr& out = context.emit(is_load ? exec_wmma_load : exec_wmma_store,
                            space == 0 ? Pipe::kGlobal : Pipe::kShared, TaintRule::kOwn);
  out.src[0] = address.base;
  out.src[1] = stride;
  out.imm = address.offset;
  out.aux = static_cast<std::uint16_t>(address.flags | (layout == 1 ? kWmmaColumnMajor : 0) |
                                       (stride != kNoRegister ? kWmmaHasStride : 0) |
                                       (shape + 1) << kWmmaShapeShift);
  out.count = static_cast<std::uint8_t>(part);
  out.bytes = static_cast<std::uint8_t>(bit_width(type) / 8);
  out.space = space < 0 ? address.space : space == 0 ? Space::kGlobal : Space::kShared;
  context.reads(address.base);
  context.reads(stride);
  context.begin_extra();
  add_registers(context, regs, is_load);
  // Elements that are not neighbours along the register are moved one at a time.
  const bool neighbours = bit_width(type) == 32 || (part == WmmaPart::kB) == (layout == 1);
  if (!neighbours) context.narrow_shared_granule(out.bytes);
}

void decode_wmma_mma(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  modifiers.take("sync");
  modifiers.take("aligned");
  if (modifiers.take_one_of({"row", "col"}) < 0 || modifiers.take_one_of({"row", "col"}) < 0) {
    // Both layouts may be the same word; then one of them is still there.
    modifiers.take("row");
    modifiers.take("col");
  }
  const std::string_view mnk = wmma_sizes(modifiers);
  const Type d = modifiers.take_type();
  Type c = modifiers.take_type();
  Type a = Type::kF16;
  if (c != Type::kF16 && c != Type::kF32) {  // the types of A and B are there
    a = c;
    if (modifiers.take_type() != a) modifiers.unsupported();
    c = modifiers.take_type();
  }
  const bool saturate = modifiers.take("satfinite");
  if (saturate && c != Type::kS32) modifiers.unsupported();
  modifiers.finish();
  if (const int other = find_wmma_shape(mnk, a, c); other >= 0) {
    if (d != c || in.operands.size() != 4) modifiers.unsupported();
    decode_wmma_shape(context, other, saturate);
    return;
  }
  if (mnk != "m16n16k16") modifiers.unsupported();
  const int index = find_mma_shape(16, a, a, c);
  if (index < 0 || d != c || in.operands.size() != 4) modifiers.unsupported();
  const std::size_t ab = wmma_registers(WmmaPart::kA, a);
  const std::size_t cd = wmma_registers(WmmaPart::kC, c);
  const auto rd = vector_registers(context, in.operands[0], cd, true);
  const auto ra = vector_registers(context, in.operands[1], ab, false);
  const auto rb = vector_registers(context, in.operands[2], ab, false);
  const auto rc = vector_registers(context, in.operands[3], cd, false);
  Instr& out = context.emit(exec_wmma_mma, Pipe::kTensor, TaintRule::kOwn);
  out.imm = index;
  out.count = static_cast<std::uint8_t>(cd);
  out.bytes = static_cast<std::uint8_t>(ab);
  context.last_info().flops = 2 * 16 * 16 * 16;
  context.begin_extra();
  add_registers(context, rd, true);
  add_registers(context, ra, false);
  add_registers(context, rb, false);
  add_registers(context, rc, false);
}

void decode_movmatrix(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  modifiers.take("sync");
  modifiers.take("aligned");
  if (!modifiers.take("m8n8") || !modifiers.take("trans") || !modifiers.take("b16"))
    modifiers.unsupported();
  modifiers.finish();
  const std::uint32_t source = context.source(in.operands[1], Type::kB32);
  const std::uint32_t dst = context.destination(in.operands[0], Type::kB32);
  Instr& out = context.emit(exec_movmatrix, Pipe::kShared, TaintRule::kOwn);
  out.dst = dst;
  out.src[0] = source;
  context.reads(source);
  context.writes(dst);
}

}  // namespace

bool decode_tensor(DecodeContext& context) {
  const Instruction& in = context.current();
  const std::string& name = in.parts[0];
  if (name == "ldmatrix" || name == "stmatrix") {
    decode_matrix_move(context, name == "ldmatrix");
  } else if (name == "movmatrix") {
    decode_movmatrix(context);
  } else if (name == "mma") {
    decode_mma(context);
  } else if (name == "wmma") {
    Modifiers modifiers(in);
    if (modifiers.take("load")) {
      decode_wmma_move(context, modifiers, true);
    } else if (modifiers.take("store")) {
      decode_wmma_move(context, modifiers, false);
    } else if (modifiers.take("mma")) {
      decode_wmma_mma(context, modifiers);
    } else {
      modifiers.unsupported();
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace evo::ptx
