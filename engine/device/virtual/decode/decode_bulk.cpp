#include <vector>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_bulk.hpp"

// Decodes cp.async.bulk.

namespace evo::ptx {
namespace {

Address address_of(DecodeContext& context, const Operand& operand) {
  const auto address = context.address(operand);
  if (address.is_parameter) context.unsupported("address in the parameter space");
  return address.at;
}

/// Emits a bulk copy. `size`: the register with the number of bytes; kNoRegister if the copy has
/// coordinates. `mask`: the register with the mask of the CTAs that receive the data; kNoRegister
/// if the copy is no multicast copy.
void emit_copy(DecodeContext& context, const BulkCopy& copy, std::uint32_t size, std::uint32_t mask,
               const std::vector<std::uint32_t>& coordinates = {}) {
  std::vector<std::uint32_t> registers = {copy.to.base, copy.from.base, copy.barrier.base, size,
                                          mask};
  registers.insert(registers.end(), coordinates.begin(), coordinates.end());
  BulkOperands op;
  op.registers = context.add_list(registers);
  op.copy = static_cast<std::uint32_t>(context.program().bulk_copies.size());
  context.program().bulk_copies.push_back(copy);
  context.emit(exec_bulk_copy, op, Pipe::kGlobal, TaintRule::kOwn);
  for (const std::uint32_t reg : registers) context.reads(reg);
}

/// The register of the mask of CTAs, operand `at`; kNoRegister if the copy is no multicast copy.
std::uint32_t mask_of(DecodeContext& context, const BulkCopy& copy, std::size_t at) {
  if (!copy.is_multicast) return kNoRegister;
  return context.source(context.current().operands[at], Type::kB32);
}

/// Decodes a copy without a tensor map. Operands of a copy into shared memory: [to], [from], size,
/// [mbarrier] {, mask of CTAs} {, cache policy}; of a copy to global memory: [to], [from], size
/// {, cache policy}.
void decode_linear(DecodeContext& context, Modifiers& modifiers, const BulkCopy& kind) {
  const Instruction& in = context.current();
  const bool is_load = kind.is_load;
  const bool has_policy = modifiers.take("L2::cache_hint");
  modifiers.finish();
  const std::size_t operands =
      (is_load ? 4U : 3U) + (kind.is_multicast ? 1U : 0U) + (has_policy ? 1U : 0U);
  if (in.operands.size() != operands) context.unsupported();
  BulkCopy copy = kind;
  copy.to = address_of(context, in.operands[0]);
  copy.from = address_of(context, in.operands[1]);
  if (is_load) copy.barrier = address_of(context, in.operands[3]);
  const std::uint32_t size = context.source(in.operands[2], Type::kB32);
  emit_copy(context, copy, size, mask_of(context, copy, 4));
}

/// Decodes a copy with a tensor map. Operands of a copy into shared memory: [to], [map,
/// {coordinates}], [mbarrier] {, mask of CTAs} {, cache policy}; of a copy to global memory: [map,
/// {coordinates}], [from] {, cache policy}.
void decode_tensor(DecodeContext& context, Modifiers& modifiers, const BulkCopy& kind) {
  const Instruction& in = context.current();
  BulkCopy copy = kind;
  const bool is_load = copy.is_load;
  copy.dimensions =
      static_cast<std::uint8_t>(modifiers.take_one_of({"1d", "2d", "3d", "4d", "5d"}) + 1);
  modifiers.take("tile");
  const bool has_policy = modifiers.take("L2::cache_hint");
  modifiers.finish();
  const std::size_t operands =
      (is_load ? 3U : 2U) + (copy.is_multicast ? 1U : 0U) + (has_policy ? 1U : 0U);
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
  emit_copy(context, copy, kNoRegister, mask_of(context, copy, 3), coordinates);
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
  const bool with_global = modifiers.take("global");
  const bool of_cluster = modifiers.take("shared::cluster");
  const bool of_cta = modifiers.take("shared::cta");
  const bool from_shared = !with_global && of_cluster && of_cta;
  if (!from_shared && (!with_global || of_cluster == of_cta)) {
    decode_groups(context, modifiers);
    return;
  }
  BulkCopy copy;
  copy.from_shared = from_shared;
  copy.is_load = modifiers.take("mbarrier::complete_tx::bytes");
  copy.is_multicast = modifiers.take("multicast::cluster");
  if (!copy.is_load && !modifiers.take("bulk_group")) modifiers.unsupported();
  modifiers.take("tensor") ? decode_tensor(context, modifiers, copy)
                           : decode_linear(context, modifiers, copy);
}

}  // namespace evo::ptx
