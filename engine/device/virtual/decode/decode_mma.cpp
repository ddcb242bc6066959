#include <array>
#include <string>

#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_matrix.hpp"
#include "engine/device/virtual/execute/exec_mma.hpp"

// Decodes ldmatrix, stmatrix, movmatrix and mma.sync.

namespace evo::ptx {

std::vector<std::uint32_t> vector_registers(DecodeContext& context, const Operand& operand,
                                            std::size_t count, bool write, Type type) {
  std::vector<std::uint32_t> regs;
  const std::vector<Operand> single = {operand};
  const auto& elements = operand.kind == Operand::Kind::kVector ? operand.elements : single;
  if (elements.size() != count) {
    context.fail(context.current().spelling + " needs " + std::to_string(count) +
                 " registers in an operand, but has " + std::to_string(elements.size()));
  }
  for (const Operand& element : elements) {
    regs.push_back(write ? context.destination(element, type) : context.source(element, type));
  }
  return regs;
}

void decode_matrix_move(DecodeContext& context) {
  const Instruction& in = context.current();
  const bool is_load = in.opcode == Opcode::kLdmatrix;
  Modifiers modifiers(in);
  modifiers.take("sync");
  modifiers.take("aligned");
  if (!modifiers.take("m8n8")) modifiers.unsupported();
  const int count = modifiers.take_one_of({"x1", "x2", "x4"});
  MatrixMoveOperands op;
  op.is_transposed = modifiers.take("trans");
  modifiers.take_one_of({"shared", "shared::cta"});
  if (!modifiers.take("b16") || count < 0 || in.operands.size() != 2) modifiers.unsupported();
  modifiers.finish();
  op.rows = context.address(in.operands[is_load ? 1 : 0]).at;
  const auto regs = vector_registers(context, in.operands[is_load ? 0 : 1], 1U << count, is_load);
  op.matrices = context.add_list(regs);
  context.emit(is_load ? exec_ldmatrix : exec_stmatrix, op, Pipe::kShared, TaintRule::kOwn);
  context.reads(op.rows.base);
  is_load ? context.writes(regs) : context.reads(regs);
}

void decode_movmatrix(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  modifiers.take("sync");
  modifiers.take("aligned");
  if (!modifiers.take("m8n8") || !modifiers.take("trans") || !modifiers.take("b16"))
    modifiers.unsupported();
  modifiers.finish();
  MatrixTransposeOperands op;
  op.source = context.source(in.operands[1], Type::kB32);
  op.dst = context.destination(in.operands[0], Type::kB32);
  context.emit(exec_movmatrix, op, Pipe::kShared, TaintRule::kOwn);
  context.reads(op.source);
  context.writes(op.dst);
}

Product product_registers(DecodeContext& context, const ProductSizes& sizes) {
  const Instruction& in = context.current();
  const auto count = [](int registers) { return static_cast<std::size_t>(registers); };
  Product product;
  product.d = vector_registers(context, in.operands[0], count(sizes.cd), true, sizes.type);
  for (const auto& [operand, size] : {std::pair(1, sizes.a), {2, sizes.b}, {3, sizes.cd}}) {
    const auto regs =
        vector_registers(context, in.operands[count(operand)], count(size), false, sizes.type);
    product.sources.insert(product.sources.end(), regs.begin(), regs.end());
  }
  std::vector<std::uint32_t> all = product.d;
  all.insert(all.end(), product.sources.begin(), product.sources.end());
  product.list = context.add_list(all);
  return product;
}

void emit_product(DecodeContext& context, Handler fn, const Operands& operands,
                  const Product& product, int multiply_adds) {
  context.emit(fn, operands, Pipe::kTensor, TaintRule::kOwn);
  context.last_info().flops = static_cast<std::uint32_t>(2 * multiply_adds);
  context.writes(product.d);
  context.reads(product.sources);
}

bool is_fp8(Type type) { return type == Type::kE4m3 || type == Type::kE5m2; }

void decode_double_mma(DecodeContext& context, int m, int k) {
  DoubleMmaOperands op{
      .registers = {}, .m = static_cast<std::uint8_t>(m), .k = static_cast<std::uint8_t>(k)};
  const Product product = product_registers(
      context, {.a = op.a_regs(), .b = op.b_regs(), .cd = op.c_regs(), .type = Type::kB64});
  op.registers = product.list;
  emit_product(context, exec_double_mma, op, product, m * 8 * k);
}

void decode_mma(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  modifiers.take("sync");
  modifiers.take("aligned");
  const bool is_small = modifiers.take("m8n8k4");  // only for f64
  const int depth =
      is_small ? 0 : modifiers.take_one_of({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  static constexpr std::array kDepths = {4, 8, 16, 32};
  if (depth < 0 || !modifiers.take("row") || !modifiers.take("col")) modifiers.unsupported();
  MmaOperands op;
  op.saturates = modifiers.take("satfinite");
  modifiers.take_one_of({"kind::f8f6f4"});
  const Type d = modifiers.take_type();
  const Type a = modifiers.take_type();
  const Type b = modifiers.take_type();
  const Type c = modifiers.take_type();
  modifiers.take("rn");
  modifiers.finish();
  const bool is_double = a == Type::kF64;
  if (is_double && b == a && c == a && d == a && in.operands.size() == 4 && depth < 3) {
    decode_double_mma(context, is_small ? 8 : 16, kDepths[static_cast<std::size_t>(depth)]);
    return;
  }
  if (is_small) modifiers.unsupported("m8n8k4 is supported for f64 only");
  op.shape = find_mma_shape(kDepths[static_cast<std::size_t>(depth)], a, b, c);
  if (op.shape == nullptr || d != c || in.operands.size() != 4) modifiers.unsupported();
  if (is_fp8(a) && !mma_numerics(context.program().target).has_fp8) {
    context.unsupported("fp8 matrices need sm_89 or newer, the target is " +
                        context.program().target);
  }
  const Product product = product_registers(
      context, {.a = op.shape->a_regs, .b = op.shape->b_regs, .cd = op.shape->c_regs});
  op.registers = product.list;
  emit_product(context, exec_mma, op, product, 16 * 8 * op.shape->k);
  context.last_info().is_fp8 = is_fp8(a);
}

}  // namespace evo::ptx
