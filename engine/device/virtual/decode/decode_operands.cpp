#include <algorithm>
#include <bit>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/memory/parameter_space.hpp"

// Converts operands to registers. Literals, special registers and addresses of variables become
// registers that are filled before the first instruction. An instruction that changes the width is
// inserted if the operand's register is wider or narrower than the instruction's type.

namespace evo::ptx {
namespace {

const std::map<std::string_view, Special>& special_names() {
  static const std::map<std::string_view, Special> names = {
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneId},
      {"%warpid", Special::kWarpId},
      {"%nwarpid", Special::kNWarpId},
      {"%lanemask_eq", Special::kLaneMaskEq},
      {"%lanemask_le", Special::kLaneMaskLe},
      {"%lanemask_lt", Special::kLaneMaskLt},
      {"%lanemask_ge", Special::kLaneMaskGe},
      {"%lanemask_gt", Special::kLaneMaskGt},
      {"%smid", Special::kSmId},
      {"%nsmid", Special::kNSmId},
      {"%gridid", Special::kGridId},
      {"%dynamic_smem_size", Special::kDynamicSharedSize},
      {"%total_smem_size", Special::kTotalSharedSize},
      {"%reserved_smem_offset_begin", Special::kReservedSharedBegin},
      {"%reserved_smem_offset_cap", Special::kReservedSharedCap},
      {"%reserved_smem_offset_end", Special::kReservedSharedEnd},
      {"%reserved_smem_offset_0", Special::kReservedShared0},
      {"%reserved_smem_offset_1", Special::kReservedShared1},
      {"%envreg1", Special::kEnvReg1},
      {"%envreg2", Special::kEnvReg2},
      {"%clusterid.x", Special::kClusterIdX},
      {"%clusterid.y", Special::kClusterIdY},
      {"%clusterid.z", Special::kClusterIdZ},
      {"%nclusterid.x", Special::kNClusterIdX},
      {"%nclusterid.y", Special::kNClusterIdY},
      {"%nclusterid.z", Special::kNClusterIdZ},
      {"%cluster_ctaid.x", Special::kClusterCtaIdX},
      {"%cluster_ctaid.y", Special::kClusterCtaIdY},
      {"%cluster_ctaid.z", Special::kClusterCtaIdZ},
      {"%cluster_nctaid.x", Special::kClusterNCtaIdX},
      {"%cluster_nctaid.y", Special::kClusterNCtaIdY},
      {"%cluster_nctaid.z", Special::kClusterNCtaIdZ},
      {"%cluster_ctarank", Special::kClusterCtaRank},
      {"%cluster_nctarank", Special::kClusterNCtaRank},
      {"%is_explicit_cluster", Special::kIsExplicitCluster},
  };
  return names;
}

Type storage_type(int bytes) {
  switch (bytes) {
    case 2:
      return Type::kB16;
    case 4:
      return Type::kB32;
    case 8:
      return Type::kB64;
    default:
      return Type::kB128;
  }
}

}  // namespace

std::uint32_t DecodeContext::constant(std::uint64_t bits, Type type) {
  const Type storage = type == Type::kPred ? Type::kPred : storage_type(register_bytes(type));
  const int width = std::min(bit_width(type), 64);
  if (width < 64) bits &= (1ULL << width) - 1;
  const auto [entry, is_new] = constants_.try_emplace({bits, storage}, 0);
  if (is_new) entry->second = new_register(storage);
  return entry->second;
}

std::uint32_t DecodeContext::special(Special special) {
  const auto [entry, is_new] = specials_.try_emplace(special, 0);
  const bool is_predicate = special == Special::kIsExplicitCluster;
  if (is_new) entry->second = new_register(is_predicate ? Type::kPred : Type::kB32);
  if (special >= Special::kReservedSharedBegin && special <= Special::kReservedShared1)
    program_.uses_reserved_shared = true;
  if (special == Special::kEnvReg1 || special == Special::kEnvReg2) {
    program_.cooperative = true;
    program_.claims_work = true;  // a sample of the grid would wait forever for other CTAs
  }
  return entry->second;
}

std::uint32_t DecodeContext::resized(std::uint32_t reg, Type from, Type to) {
  const int source_bytes = register_bytes(from);
  const int target_bytes = register_bytes(to);
  if (source_bytes == target_bytes) return reg;
  const std::uint32_t result = new_register(storage_type(target_bytes));
  const Handler fn =
      alu_table().helpers.resize[std::countr_zero(static_cast<unsigned>(target_bytes))]
                                [std::countr_zero(static_cast<unsigned>(source_bytes))][0];
  in_helper_ = true;
  emit(fn, AluOperands{.dst = result, .src = {reg}}, Pipe::kMove, TaintRule::kMove);
  in_helper_ = false;
  last_info().dst_bytes = static_cast<std::uint8_t>(target_bytes);
  last_info().src_bytes = static_cast<std::uint8_t>(source_bytes);
  reads(reg);
  writes(result);
  return result;
}

std::uint32_t DecodeContext::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      const std::uint32_t reg = frame_->registers[static_cast<std::size_t>(operand.reg)];
      const Type have = types_[reg];
      if ((have == Type::kPred) != (type == Type::kPred))
        fail("operand of the wrong type for " + current_->spelling);
      if (operand.negated && type != Type::kPred)
        fail("'!' before an operand that is no predicate");
      return type == Type::kPred ? reg : resized(reg, have, type);
    }
    case Operand::Kind::kInteger:
      if (type == Type::kF32 && operand.bits == 0) return constant(0, type);
      return constant(
          type == Type::kPred ? static_cast<std::uint64_t>(operand.bits != 0) : operand.bits, type);
    case Operand::Kind::kFloat32:
      if (type == Type::kF64 || type == Type::kB64) {
        return constant(std::bit_cast<std::uint64_t>(static_cast<double>(
                            std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))),
                        type);
      }
      return constant(operand.bits, type);
    case Operand::Kind::kFloat64:
      if (bit_width(type) == 32) {
        return constant(
            std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits))),
            type);
      }
      return constant(operand.bits, type);
    case Operand::Kind::kSymbol: {
      if (operand.name == "WARP_SZ") return constant(kWarpSize, type);
      const auto found = special_names().find(operand.name);
      if (found != special_names().end()) {
        const bool is_predicate = found->second == Special::kIsExplicitCluster;
        if (is_predicate != (type == Type::kPred)) fail("special register of the wrong type");
        return is_predicate ? special(found->second)
                            : resized(special(found->second), Type::kB32, type);
      }
      if (operand.name.starts_with('%')) fail("not supported: special register " + operand.name);
      return constant(symbol_value(operand), type);
    }
    default:
      fail("operand of the wrong kind for " + current_->spelling);
  }
}

std::uint32_t DecodeContext::destination(const Operand& operand, Type type, bool is_signed) {
  if (operand.kind == Operand::Kind::kSink)
    return new_register(type == Type::kPred ? type : storage_type(register_bytes(type)));
  if (operand.kind != Operand::Kind::kRegister)
    fail("the destination of " + current_->spelling + " is not a register");
  const std::uint32_t reg = frame_->registers[static_cast<std::size_t>(operand.reg)];
  const Type have = types_[reg];
  if ((have == Type::kPred) != (type == Type::kPred))
    fail("destination of the wrong type for " + current_->spelling);
  if (type == Type::kPred || register_bytes(have) == register_bytes(type)) return reg;
  const std::uint32_t narrow = new_register(storage_type(register_bytes(type)));
  pending_.push_back({narrow, reg, type, is_signed});
  return narrow;
}

void DecodeContext::finish_destinations() {
  const auto pending = std::move(pending_);
  pending_.clear();
  for (const PendingDestination& p : pending) {
    const int source_bytes = register_bytes(p.type);
    const int target_bytes = register_bytes(types_[p.wide]);
    in_helper_ = true;
    const Handler fn = alu_table().helpers.resize[std::countr_zero(static_cast<unsigned>(
        target_bytes))][std::countr_zero(static_cast<unsigned>(source_bytes))][p.is_signed ? 1 : 0];
    emit(fn, AluOperands{.dst = p.wide, .src = {p.narrow}}, Pipe::kMove, TaintRule::kAny);
    in_helper_ = false;
    last_info().dst_bytes = static_cast<std::uint8_t>(target_bytes);
    reads(p.narrow);
    writes(p.wide);
  }
}

std::uint32_t DecodeContext::predicate(const Operand& operand) {
  return source(operand, Type::kPred);
}

DecodeContext::VariableAddress DecodeContext::variable_address(const Operand& operand) {
  if (operand.variable >= 0) {
    const auto index = static_cast<std::size_t>(operand.variable);
    const Variable& variable = frame_->function->variables[index];
    std::int64_t& address = frame_->variable_address[index];
    const bool is_kernel_parameter =
        frame_->is_entry && std::ranges::find(frame_->function->parameters, operand.variable) !=
                                frame_->function->parameters.end();
    if (address < 0) {
      if (is_kernel_parameter) {
        address = parameter_offsets_[variable.name];
      } else {
        address = variable.space == Space::kShared ? static_shared_.at(&variable)
                                                   : allocate_local(variable);
      }
    }
    return {variable.space == Space::kParam ? Space::kLocal : variable.space, address,
            is_kernel_parameter};
  }
  if (const auto shared = shared_addresses_.find(operand.name); shared != shared_addresses_.end()) {
    return {Space::kShared, shared->second, false};
  }
  for (const Variable& variable : module_.variables) {
    if (variable.name != operand.name) continue;
    if (variable.space == Space::kShared) {
      return {Space::kShared, program_.dynamic_shared_offset, false};
    }
    const auto global = globals_.find(variable.name);
    if (global == globals_.end()) break;
    return {Space::kGlobal, static_cast<std::int64_t>(global->second), false};
  }
  fail("unknown name '" + operand.name + "'");
}

std::uint64_t DecodeContext::symbol_value(const Operand& operand) {
  const VariableAddress found = variable_address(operand);
  const std::uint64_t base = found.is_kernel_parameter ? kKernelParameters : 0;
  return base + static_cast<std::uint64_t>(found.offset + operand.offset);
}

DecodeContext::AddressOperand DecodeContext::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::kAddress) fail(current_->spelling + " needs an address");
  if (operand.elements.size() != 1) unsupported("coordinates in an address");
  const Operand& base = operand.elements[0];
  AddressOperand result;
  result.at.offset = operand.offset;
  if (base.kind == Operand::Kind::kRegister) {
    result.at.base = frame_->registers[static_cast<std::size_t>(base.reg)];
    const int bits = bit_width(types_[result.at.base]);
    if (bits != 32 && bits != 64) fail("an address needs a register of 32 or 64 bits");
    result.at.is_wide = bits == 64;
  } else if (base.kind == Operand::Kind::kSymbol) {
    const VariableAddress found = variable_address(base);
    result.at.offset += found.offset;
    result.space = found.space;
    result.is_parameter = found.is_kernel_parameter;
  } else if (base.kind != Operand::Kind::kInteger) {
    fail("an address must be a register, a variable or a number");
  }
  return result;
}

}  // namespace evo::ptx
