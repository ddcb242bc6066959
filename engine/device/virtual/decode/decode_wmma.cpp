#include <array>
#include <string_view>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_wmma.hpp"

// Decodes wmma: loads, stores and products of fragments.

namespace evo::ptx {
namespace {

int wmma_registers(WmmaPart part, Type type) {
  if (part == WmmaPart::kC) return type == Type::kF32 ? 8 : 4;
  return type == Type::kF16 ? 8 : 4;
}

int wmma_registers(const WmmaShape& shape, WmmaPart part) {
  if (part == WmmaPart::kC) return shape.c_regs();
  if (shape.ab == Type::kF16) return 8;
  return part == WmmaPart::kA ? shape.a_regs() : shape.b_regs();
}

std::string_view wmma_sizes(Modifiers& modifiers) {
  constexpr std::array<std::string_view, 5> kSizes = {"m16n16k16", "m8n32k16", "m32n8k16",
                                                      "m16n16k8", "m8n8k4"};
  const int found = modifiers.take_one_of({kSizes[0], kSizes[1], kSizes[2], kSizes[3], kSizes[4]});
  if (found < 0) modifiers.unsupported("only m16n16k16, m8n32k16, m32n8k16, m16n16k8 and m8n8k4");
  return kSizes[static_cast<std::size_t>(found)];
}

/// Decodes a product that has a different shape or type than m16n16k16 of f16 or bf16.
void decode_shape_mma(DecodeContext& context, const WmmaShape& shape, bool saturate) {
  const int a = wmma_registers(shape, WmmaPart::kA);
  const int b = wmma_registers(shape, WmmaPart::kB);
  const Product product =
      product_registers(context, {.a = a, .b = b, .cd = wmma_registers(shape, WmmaPart::kC)});
  const WmmaShapeOperands op{.registers = product.list,
                             .shape = &shape,
                             .a_regs = static_cast<std::uint8_t>(a),
                             .b_regs = static_cast<std::uint8_t>(b),
                             .saturates = saturate};
  emit_product(context, exec_wmma_shape_mma, op, product, shape.m * shape.n * shape.k);
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
  const WmmaShape* shape = is_plain ? nullptr : find_wmma_fragment(mnk, part, type);
  // The default stride of 16 elements holds for 16 x 16 matrices only.
  const std::size_t fewest = is_plain ? 2 : 3;
  if (part_name < 0 || layout < 0 || (!is_plain && shape == nullptr) ||
      in.operands.size() < fewest || in.operands.size() > 3)
    modifiers.unsupported();
  const auto address = context.address(in.operands[is_load ? 1 : 0]);
  const int count = is_plain ? wmma_registers(part, type) : wmma_registers(*shape, part);
  const auto regs =
      vector_registers(context, in.operands[is_load ? 0 : 1], static_cast<std::size_t>(count),
                       is_load, type == Type::kF64 ? Type::kB64 : Type::kB32);
  WmmaMoveOperands op;
  if (in.operands.size() == 3) op.stride = context.source(in.operands[2], Type::kB32);
  op.address = address.at;
  op.registers = context.add_list(regs);
  op.shape = shape;
  op.space = space < 0 ? address.space : space == 0 ? Space::kGlobal : Space::kShared;
  op.part = part;
  op.element_bytes = static_cast<std::uint8_t>(bit_width(type) / 8);
  op.is_column_major = layout == 1;
  context.emit(is_load ? exec_wmma_load : exec_wmma_store, op,
               space == 0 ? Pipe::kGlobal : Pipe::kShared, TaintRule::kOwn);
  context.reads(op.address.base);
  context.reads(op.stride);
  is_load ? context.writes(regs) : context.reads(regs);
  // If the elements of a register are not adjacent in memory, each element is accessed separately.
  const bool neighbours = bit_width(type) >= 32 || (part == WmmaPart::kB) == op.is_column_major;
  if (!neighbours) context.narrow_shared_granule(op.element_bytes);
  context.narrow_global_granule(op.element_bytes);
}

void decode_wmma_mma(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  modifiers.take("sync");
  modifiers.take("aligned");
  if (modifiers.take_one_of({"row", "col"}) < 0 || modifiers.take_one_of({"row", "col"}) < 0) {
    modifiers.take("row");
    modifiers.take("col");
  }
  const std::string_view mnk = wmma_sizes(modifiers);
  modifiers.take("rn");
  const Type d = modifiers.take_type();
  Type c = modifiers.take_type();
  Type a = Type::kF16;
  if (c != Type::kF16 && c != Type::kF32) {  // the types of A and B are specified
    a = c;
    if (modifiers.take_type() != a) modifiers.unsupported();
    c = modifiers.take_type();
  }
  const bool saturate = modifiers.take("satfinite");
  if (saturate && c != Type::kS32) modifiers.unsupported();
  modifiers.finish();
  if (a == Type::kF64 && mnk == "m8n8k4" && c == a && d == a && in.operands.size() == 4) {
    decode_double_mma(context, 8, 4);
    return;
  }
  if (const WmmaShape* other = find_wmma_shape(mnk, a, c)) {
    if (d != c || in.operands.size() != 4) modifiers.unsupported();
    decode_shape_mma(context, *other, saturate);
    return;
  }
  if (mnk != "m16n16k16") modifiers.unsupported();
  const MmaShape* half = find_mma_shape(16, a, a, c);
  if (half == nullptr || d != c || in.operands.size() != 4) modifiers.unsupported();
  const int ab = wmma_registers(WmmaPart::kA, a);
  const int cd = wmma_registers(WmmaPart::kC, c);
  const Product product = product_registers(context, {.a = ab, .b = ab, .cd = cd});
  const WmmaOperands op{.registers = product.list,
                        .half = half,
                        .ab_regs = static_cast<std::uint8_t>(ab),
                        .cd_regs = static_cast<std::uint8_t>(cd)};
  emit_product(context, exec_wmma_mma, op, product, 16 * 16 * 16);
}

}  // namespace

void decode_wmma(DecodeContext& context) {
  Modifiers modifiers(context.current());
  if (modifiers.take("load")) {
    decode_wmma_move(context, modifiers, true);
  } else if (modifiers.take("store")) {
    decode_wmma_move(context, modifiers, false);
  } else if (modifiers.take("mma")) {
    decode_wmma_mma(context, modifiers);
  } else {
    modifiers.unsupported();
  }
}

}  // namespace evo::ptx
