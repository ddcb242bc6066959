#include "engine/device/virtual/decode/decode_context.hpp"

#include <algorithm>
#include <stdexcept>

#include "engine/core/suggestion.hpp"
#include "engine/device/virtual/decode/product_registers.hpp"
#include "engine/device/virtual/execute/exec_control.hpp"

namespace evo::ptx {
namespace {

constexpr int kMaxCallDepth = 32;
// limit of the number of instructions, because the race checker's records have 20 bits for an
// instruction's number
constexpr std::size_t kMaxInstructions = 1U << 20;
// limit of the sum of the registers of all inlined functions
constexpr std::size_t kMaxRegisters = 1U << 20;
constexpr std::uint64_t kMaxParameterBytes = 32764;       // CUDA's limit
constexpr std::uint64_t kMaxSharedBytes = 227ULL * 1024;  // limit of the largest modelled GPU
constexpr std::uint64_t kMaxLocalBytes = 512ULL * 1024;   // CUDA's limit per thread

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) {
  return align == 0 ? value : (value + align - 1) / align * align;
}

/// Registers per thread at launch, which setmaxnreg needs: the number in .maxnreg. If the kernel
/// states only its number of threads, the 65536 registers of an SM are divided among the threads of
/// .minnctapersm CTAs (default: 1), and the quotient is rounded down to a multiple of 8 of at most
/// 248. Otherwise 0.
int launch_registers(const Function& entry) {
  constexpr int kRegistersOfSm = 65536;
  constexpr int kUnit = 8;
  constexpr int kMost = 255 / kUnit * kUnit;
  if (entry.max_registers > 0) return entry.max_registers;
  if (entry.max_threads == 0) return 0;
  const int share = kRegistersOfSm / (entry.max_threads * std::max(entry.min_ctas, 1));
  return std::min(share / kUnit * kUnit, kMost);
}

}  // namespace

int register_bytes(Type type) {
  if (type == Type::kPred) return 4;
  return std::max(bit_width(type) / 8, 2);
}

DecodeContext::DecodeContext(const Module& module, const GlobalAddresses& globals, Program& program)
    : module_(module), globals_(globals), program_(program) {}

void DecodeContext::unsupported(const std::string& why) const {
  fail("not supported: " + current_->spelling + (why.empty() ? "" : " (" + why + ")"));
}

std::uint32_t DecodeContext::new_register(Type type) {
  if (types_.size() >= kMaxRegisters)
    fail("more than " + std::to_string(kMaxRegisters) + " registers, inlined functions included");
  types_.push_back(type);
  return static_cast<std::uint32_t>(types_.size() - 1);
}

/// Allocates a variable in a state space of `limit` bytes and returns the variable's offset.
/// `used`: the bytes in use, which the call updates.
std::uint32_t DecodeContext::allocate(const Variable& variable, std::uint32_t& used,
                                      std::uint64_t limit, const char* space) const {
  const std::uint64_t offset = align_up(used, variable.align);
  if (offset + variable.bytes > limit) {
    throw PtxError(std::string(space) + " variable '" + variable.name + "' of " +
                       std::to_string(variable.bytes) +
                       " bytes: the limit for all such variables together is " +
                       std::to_string(limit),
                   variable.line);
  }
  used = static_cast<std::uint32_t>(offset + variable.bytes);
  return static_cast<std::uint32_t>(offset);
}

/// Assigns addresses to the static shared variables of the function, of its callees and, if used,
/// of the module. Dynamic shared memory follows the static variables.
void DecodeContext::place_shared(const Function& function) {
  if (!placed_.insert(&function).second) return;
  for (const Variable& variable : function.variables) {
    if (variable.space == Space::kShared) static_shared_[&variable] = allocate_shared(variable);
  }
  const auto visit = [&](const auto& self, const Operand& operand) -> void {
    for (const Operand& element : operand.elements) self(self, element);
    if (operand.kind != Operand::Kind::kSymbol || operand.variable >= 0 || operand.label >= 0)
      return;
    for (const Variable& variable : module_.variables) {
      if (variable.name != operand.name || variable.space != Space::kShared || variable.bytes == 0)
        continue;
      if (!shared_addresses_.contains(variable.name))
        shared_addresses_[variable.name] = allocate_shared(variable);
    }
    const auto callee = module_.functions.find(operand.name);
    if (callee != module_.functions.end() && !callee->second.is_entry) place_shared(callee->second);
  };
  for (const Instruction& in : function.body) {
    for (const Operand& operand : in.operands) visit(visit, operand);
  }
}

std::int64_t DecodeContext::allocate_shared(const Variable& variable) {
  const std::uint32_t offset =
      allocate(variable, program_.static_shared_bytes, kMaxSharedBytes, "shared");
  program_.shared_names.emplace_back(offset, variable.name);
  return offset;
}

std::int64_t DecodeContext::allocate_local(const Variable& variable) {
  return allocate(variable, program_.local_bytes, kMaxLocalBytes, "local");
}

void DecodeContext::decode_function(Frame& frame, int depth) {
  if (depth > kMaxCallDepth) unsupported("recursion");
  Frame* const outer = frame_;
  const Instruction* const outer_instruction = current_;
  frame_ = &frame;
  const Function& function = *frame.function;
  if (frame.registers.empty()) {
    for (const Type type : function.registers) frame.registers.push_back(new_register(type));
  }
  frame.variable_address.resize(function.variables.size(), -1);
  std::vector<std::uint32_t> instruction_pc;
  for (const Instruction& in : function.body) {
    instruction_pc.push_back(static_cast<std::uint32_t>(program_.code.size()));
    decode_instruction(frame, in, depth);
    if (program_.code.size() > kMaxInstructions)
      throw PtxError("program too large: more than 2^20 instructions", in.line);
  }
  const auto end = static_cast<std::uint32_t>(program_.code.size());
  instruction_pc.push_back(end);
  for (const int body_index : function.labels) {
    frame.label_pc.push_back(instruction_pc[static_cast<std::size_t>(body_index)]);
  }
  for (const auto& [instruction, label] : frame.branch_fixups) {
    program_.code[instruction].operands =
        BranchOperands{frame.label_pc[static_cast<std::size_t>(label)]};
  }
  for (const auto& [place, label] : frame.target_fixups) {
    program_.branch_targets[place] = frame.label_pc[static_cast<std::size_t>(label)];
  }
  for (const std::size_t instruction : frame.return_fixups)
    program_.code[instruction].operands = BranchOperands{end};
  frame_ = outer;
  current_ = outer_instruction;
}

void DecodeContext::decode_instruction(Frame& frame, const Instruction& in, int depth) {
  current_ = &in;
  frame_ = &frame;
  const std::size_t before = program_.code.size();
  try {
    if (in.opcode == Opcode::kCall) {
      decode_call(in, depth);
      return;
    }
    decoder_of(in.opcode)(*this);
    finish_destinations();
  } catch (const PtxError& error) {
    replace_by_unsupported(before, error.what());
  } catch (const std::out_of_range&) {
    replace_by_unsupported(before, in.spelling + " needs more than " +
                                       std::to_string(in.operands.size()) + " operands at line " +
                                       std::to_string(in.line));
  }
}

/// Replaces an instruction that cannot be decoded by one whose execution is an error.
/// check_reachable() rejects the program only if the entry can reach the instruction.
void DecodeContext::replace_by_unsupported(std::size_t before, const std::string& why) {
  program_.code.resize(before);
  program_.info.resize(before);
  pending_.clear();
  emit(exec_unsupported, NoOperands(), Pipe::kControl, TaintRule::kOwn);
  last_info().unsupported = why;
}

void DecodeContext::emit(Handler fn, Operands operands, Pipe pipe, TaintRule taint) {
  Instr in;
  in.fn = fn;
  in.operands = operands;
  InstrInfo info;
  info.line = current_->line;
  info.source = current_->location;
  info.pipe = pipe;
  info.taint = taint;
  info.opcode = current_->opcode;
  info.spelling = current_->spelling;
  info.helper = in_helper_;
  if (current_->guard >= 0) {
    in.guard = frame_->registers[static_cast<std::size_t>(current_->guard)];
    in.guard_negated = current_->guard_negated;
  }
  program_.code.push_back(in);
  program_.info.push_back(std::move(info));
}

void DecodeContext::reads(std::uint32_t reg) {
  if (reg != kNoRegister) program_.info.back().sources.push_back(reg);
}

void DecodeContext::writes(std::uint32_t reg) {
  if (reg != kNoRegister) program_.info.back().destinations.push_back(reg);
}

void DecodeContext::reads(const std::vector<std::uint32_t>& registers) {
  for (const std::uint32_t reg : registers) reads(reg);
}

void DecodeContext::writes(const std::vector<std::uint32_t>& registers) {
  for (const std::uint32_t reg : registers) writes(reg);
}

RegisterList DecodeContext::add_list(const std::vector<std::uint32_t>& registers) {
  const auto first = static_cast<std::uint32_t>(program_.registers.size());
  program_.registers.insert(program_.registers.end(), registers.begin(), registers.end());
  return {first, static_cast<std::uint32_t>(registers.size())};
}

TargetList DecodeContext::add_targets(const std::vector<int>& labels) {
  const auto first = static_cast<std::uint32_t>(program_.branch_targets.size());
  for (const int label : labels) {
    frame_->target_fixups.emplace_back(program_.branch_targets.size(), label);
    program_.branch_targets.push_back(0);
  }
  return {first, static_cast<std::uint32_t>(labels.size())};
}

void DecodeContext::narrow_shared_granule(int bytes) {
  program_.shared_granule = std::min(program_.shared_granule, std::max(bytes, 1));
}

void DecodeContext::narrow_global_granule(int bytes) {
  program_.global_granule = std::min(program_.global_granule, std::max(bytes, 1));
}

void DecodeContext::place_kernel_parameters() {
  const Function& entry = module_.functions.at(program_.entry);
  std::uint64_t offset = 0;
  for (const int index : entry.parameters) {
    const Variable& variable = entry.variables[static_cast<std::size_t>(index)];
    offset = align_up(offset, variable.align);
    parameter_offsets_[variable.name] = static_cast<std::int64_t>(offset);
    program_.parameters.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(variable.bytes)});
    offset += variable.bytes;
    if (offset > kMaxParameterBytes) {
      throw PtxError(
          "the kernel's parameters take more than " + std::to_string(kMaxParameterBytes) + " bytes",
          entry.line);
    }
  }
  program_.parameter_bytes = static_cast<std::uint32_t>(offset);
}

namespace {

void take_cluster(const Function& function, Program& program) {
  program.explicit_cluster = function.explicit_cluster;
  if (function.cluster == std::array<std::uint32_t, 3>{}) {
    if (function.explicit_cluster) {
      throw PtxError(
          "not supported: .explicitcluster without .reqnctapercluster; give the cluster "
          "size by __cluster_dims__ in the source",
          function.line);
    }
    return;
  }
  constexpr std::uint32_t kMost = 1024;  // far above the limit of every GPU
  if (std::ranges::any_of(function.cluster, [](std::uint32_t n) { return n == 0 || n > kMost; })) {
    throw PtxError("not supported: .reqnctapercluster with a dimension of 0 or above 1024",
                   function.line);
  }
  program.cluster = function.cluster;
  // The barrier of a cluster orders accesses of different CTAs, as strong stores may do.
  if (program.cluster_ctas() > 1) program.has_changes = true;
}

}  // namespace

std::shared_ptr<const Program> decode_entry(const Module& module, const std::string& entry,
                                            const GlobalAddresses& globals) {
  const auto found = module.functions.find(entry);
  if (found == module.functions.end() || !found->second.is_entry || !found->second.has_body) {
    std::vector<std::string> names;
    for (const auto& [name, function] : module.functions) {
      if (function.is_entry) names.push_back(name);
    }
    throw PtxError(unknown_name("entry", entry, names), 0);
  }
  auto program = std::make_shared<Program>();
  program->entry = entry;
  program->target = module.target;
  program->max_threads = found->second.max_threads;
  program->launch_registers = launch_registers(found->second);
  take_cluster(found->second, *program);
  program->files = module.files;
  program->call_sites = module.call_sites;
  DecodeContext context(module, globals, *program);
  context.decode_entry_body(found->second);
  return program;
}

void DecodeContext::decode_entry_body(const Function& function) {
  place_kernel_parameters();
  place_shared(function);
  std::uint32_t dynamic_align = 16;
  for (const Variable& variable : module_.variables) {
    if (variable.space == Space::kShared && variable.bytes == 0)
      dynamic_align = std::max(dynamic_align, variable.align);
  }
  program_.dynamic_shared_offset =
      static_cast<std::uint32_t>(align_up(program_.static_shared_bytes, dynamic_align));
  Frame frame;
  frame.function = &function;
  decode_function(frame, 0);
  // A thread that reaches the end of the function exits.
  Instruction end;
  end.line = function.body.empty() ? function.line : function.body.back().line;
  end.opcode = Opcode::kExit;
  end.spelling = "exit";
  current_ = &end;
  frame_ = &frame;
  emit(exec_exit, NoOperands(), Pipe::kControl, TaintRule::kOwn);
  check_reachable();
  program_.claims_work |= program_.reads_signals && program_.sends_signals;
  find_product_checks(program_);
  assign_registers();
  for (const Variable& variable : module_.variables) {
    if (variable.space == Space::kShared && variable.bytes == 0) {
      program_.shared_names.emplace_back(program_.dynamic_shared_offset, variable.name);
    }
  }
}

}  // namespace evo::ptx
