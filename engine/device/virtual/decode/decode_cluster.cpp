#include <array>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_bulk.hpp"
#include "engine/device/virtual/execute/exec_cluster.hpp"

// Decodes barrier.cluster, st.async, mapa, getctarank and isspacep.

namespace evo::ptx {
namespace {

void emit_address(DecodeContext& context, Handler fn, const ClusterAddressOperands& op,
                  int dst_bytes) {
  context.emit(fn, op, Pipe::kAlu, TaintRule::kAny);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(dst_bytes);
  context.last_info().src_bytes = op.is_wide ? 8 : 4;
  context.reads(op.address);
  context.reads(op.rank);
  context.writes(op.dst);
}

/// Decodes the modifiers of an instruction and its operand 1, an address. Returns the type of the
/// address. `operands`: the number of operands that the instruction must have.
Type take_cluster_address(DecodeContext& context, ClusterAddressOperands& op,
                          std::size_t operands) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  op.is_generic = !modifiers.take("shared::cluster");
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (in.operands.size() != operands || (type != Type::kU32 && type != Type::kU64)) {
    modifiers.unsupported();
  }
  op.is_wide = type == Type::kU64;
  op.address = context.source(in.operands[1], type);
  return type;
}

}  // namespace

void decode_cluster_barrier(DecodeContext& context, Modifiers& modifiers) {
  ClusterBarrierOperands op;
  op.is_wait = modifiers.take("wait");
  if (!op.is_wait && !modifiers.take("arrive")) modifiers.unsupported();
  if (op.is_wait) {
    modifiers.take("acquire");
  } else {
    op.is_relaxed = modifiers.take("relaxed");
    modifiers.take("release");
  }
  op.is_aligned = modifiers.take("aligned");
  modifiers.finish();
  context.program().has_cluster_barrier = true;
  context.emit(exec_cluster_barrier, op, Pipe::kBarrier, TaintRule::kOwn);
}

void decode_async_store(DecodeContext& context, Modifiers& modifiers) {
  const Instruction& in = context.current();
  modifiers.take("weak");
  const bool signals = modifiers.take("mbarrier::complete_tx::bytes");
  const bool of_cluster = modifiers.take("shared::cluster");
  const int vector = modifiers.take_one_of({"v2", "v4"});
  const Type type = modifiers.take_type();
  modifiers.finish();
  const int bits = bit_width(type);
  if (!signals || !of_cluster || (bits != 32 && bits != 64) || in.operands.size() != 3)
    modifiers.unsupported();
  const std::size_t count = vector < 0 ? 1 : 2U << vector;
  std::vector<std::uint32_t> registers;
  if (vector < 0) {
    registers.push_back(context.source(in.operands[1], type));
  } else {
    registers = vector_registers(context, in.operands[1], count, false, type);
  }
  const Address to = context.address(in.operands[0]).at;
  const Address barrier = context.address(in.operands[2]).at;
  if (to.base == kNoRegister || barrier.base == kNoRegister)
    context.unsupported("constant address");
  registers.insert(registers.begin(), {to.base, barrier.base});
  AsyncStoreOperands op;
  op.registers = context.add_list(registers);
  op.to_offset = static_cast<std::int32_t>(to.offset);
  op.barrier_offset = static_cast<std::int32_t>(barrier.offset);
  op.to_is_wide = to.is_wide;
  op.barrier_is_wide = barrier.is_wide;
  op.bytes = static_cast<std::uint8_t>(bits / 8);
  context.narrow_shared_granule(bits / 8);
  context.emit(exec_async_store, op, Pipe::kShared, TaintRule::kOwn);
  context.reads(registers);
}

void decode_mapa(DecodeContext& context) {
  ClusterAddressOperands op;
  const Type type = take_cluster_address(context, op, 3);
  op.rank = context.source(context.current().operands[2], Type::kU32);
  op.dst = context.destination(context.current().operands[0], type);
  emit_address(context, exec_mapa, op, op.is_wide ? 8 : 4);
}

void decode_getctarank(DecodeContext& context) {
  ClusterAddressOperands op;
  take_cluster_address(context, op, 2);
  op.dst = context.destination(context.current().operands[0], Type::kU32);
  emit_address(context, exec_getctarank, op, 4);
}

void decode_isspacep(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  static constexpr std::array kSpaces = {Space::kGlobal,        Space::kConst,  Space::kLocal,
                                         Space::kSharedCluster, Space::kShared, Space::kShared,
                                         Space::kParam,         Space::kParam};
  const int space = modifiers.take_one_of({"global", "const", "local", "shared::cluster", "shared",
                                           "shared::cta", "param", "param::entry"});
  modifiers.finish();
  if (space < 0 || in.operands.size() != 2) modifiers.unsupported();
  ClusterAddressOperands op;
  op.is_generic = true;
  op.is_wide = true;
  op.space = kSpaces[static_cast<std::size_t>(space)];
  // The virtual GPU does not distinguish constant from global memory by the address.
  if (op.space == Space::kConst) modifiers.unsupported("constant memory");
  op.address = context.source(in.operands[1], Type::kU64);
  op.dst = context.destination(in.operands[0], Type::kPred);
  emit_address(context, exec_isspacep, op, 4);
}

}  // namespace evo::ptx
