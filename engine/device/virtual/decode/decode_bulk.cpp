#include <vector>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_bulk.hpp"

// Decodes cp.async.bulk between global and shared memory.

namespace evo::ptx {
namespace {

Address address_of(DecodeContext& context, const Operand& operand) {
  const auto address = context.address(operand);
  if (address.is_parameter) context.unsupported("address in the parameter space");
  return address.at;
}

/// Emits a bulk copy. `size`: the register with the number of bytes; kNoRegister if the copy has
/// coordinates.
void emit_copy(DecodeContext& context, const BulkCopy& copy, std::uint32_t size,
               const std::vector<std::uint32_t>& coordinates = {}) {
  std::vector<std::uint32_t> registers = {copy.to.base, copy.from.base, copy.barrier.base, size};
  registers.insert(registers.end(), coordinates.begin(), coordinates.end());
  BulkOperands op;
  op.registers = context.add_list(registers);
  op.copy = static_cast<std::uint32_t>(context.program().bulk_copies.size());
  context.program().bulk_copies.push_back(copy);
  context.emit(exec_bulk_copy, op, Pipe::kGlobal, TaintRule::kOwn);
  for (const std::uint32_t reg : registers) context.reads(reg);
}

/// Decodes a copy without a tensor map. Operands of a copy into shared memory: [to], [from], size,
/// [mbarrier] {, cache policy}; of a copy to global memory: [to], [from], size {, cache policy}.
void decode_linear(DecodeContext& context, Modifiers& modifiers, bool is_load) {
  const Instruction& in = context.current();
  const bool has_policy = modifiers.take("L2::cache_hint");
  modifiers.finish();
  const std::size_t operands = (is_load ? 4U : 3U) + (has_policy ? 1U : 0U);
  if (in.operands.size() != operands) context.unsupported();
  BulkCopy copy;
  copy.is_load = is_load;
  copy.to = address_of(context, in.operands[0]);
  copy.from = address_of(context, in.operands[1]);
  if (is_load) copy.barrier = address_of(context, in.operands[3]);
  emit_copy(context, copy, context.source(in.operands[2], Type::kB32));
}

/// Decodes a copy with a tensor map. Operands of a copy into shared memory: [to], [map,
/// {coordinates}], [mbarrier] {, cache policy}; of a copy to global memory: [map, {coordinates}],
/// [from] {, cache policy}.
void decode_tensor(DecodeContext& context, Modifiers& modifiers, bool is_load) {
  const Instruction& in = context.current();
  BulkCopy copy;
  copy.is_load = is_load;
  copy.dimensions =
      static_cast<std::uint8_t>(modifiers.take_one_of({"1d", "2d", "3d", "4d", "5d"}) + 1);
  modifiers.take("tile");
  const bool has_policy = modifiers.take("L2::cache_hint");
  modifiers.finish();
  const std::size_t operands = (is_load ? 3U : 2U) + (has_policy ? 1U : 0U);
  if (in.operands.size() != operands || copy.dimensions == 0) context.unsupported();
  const Operand& tensor = in.operands[is_load ? 1 : 0];
  const bool has_coordinates = tensor.kind == Operand::Kind::kAddress &&
                               tensor.elements.size() == 2 &&
                               tensor.elements[1].kind == Operand::Kind::kVector &&
                               tensor.elements[1].elements.size() == copy.dimensions;
  if (!has_coordinates) context.fail(in.spelling + " needs coordinates: [map, {…}]");
  Operand map = tensor;
  map.elements.pop_back();
  copy.to = address_of(context, is_load ? in.operands[0] : map);
  copy.from = address_of(context, is_load ? map : in.operands[1]);
  if (is_load) copy.barrier = address_of(context, in.operands[2]);
  std::vector<std::uint32_t> coordinates;
  for (const Operand& coordinate : tensor.elements[1].elements)
    coordinates.push_back(context.source(coordinate, Type::kB32));
  emit_copy(context, copy, kNoRegister, coordinates);
}

void decode_groups(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  if (modifiers.take("commit_group")) {
    modifiers.finish();
    context.emit(exec_bulk_commit, NoOperands(), Pipe::kControl, TaintRule::kOwn);
    return;
  }
  if (!modifiers.take("wait_group")) modifiers.unsupported();
  BulkWaitOperands op;
  op.only_reads = modifiers.take("read");
  modifiers.finish();
  if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kInteger)
    context.unsupported();
  op.keep = static_cast<std::int64_t>(in.operands[0].bits);
  context.emit(exec_bulk_wait, op, Pipe::kBarrier, TaintRule::kOwn);
}

}  // namespace

void decode_bulk(DecodeContext& context, Modifiers& modifiers) {
  if (modifiers.take("prefetch")) {  // a prefetch into L2 has no effect here
    context.emit(exec_nop, NoOperands(), Pipe::kGlobal, TaintRule::kOwn);
    return;
  }
  const bool from_global = modifiers.take("global");
  const bool of_shared = modifiers.take_one_of({"shared::cluster", "shared::cta"}) >= 0;
  if (!from_global || !of_shared) {
    decode_groups(context, modifiers);
    return;
  }
  const bool is_load = modifiers.take("mbarrier::complete_tx::bytes");
  if (!is_load && !modifiers.take("bulk_group")) modifiers.unsupported();
  modifiers.take("tensor") ? decode_tensor(context, modifiers, is_load)
                           : decode_linear(context, modifiers, is_load);
}

}  // namespace evo::ptx
