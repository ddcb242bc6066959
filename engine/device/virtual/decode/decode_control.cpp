#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_control.hpp"

// Decodes branches, exits and other control flow.

namespace evo::ptx {

void decode_branch(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 1 || in.operands[0].label < 0)
    context.fail(in.spelling + " needs the name of a label");
  context.emit(exec_branch, BranchOperands(), Pipe::kControl, TaintRule::kOwn);
  context.last_info().is_branch = true;
  context.last_info().ends_path = in.guard < 0;
  context.frame().branch_fixups.emplace_back(context.program().code.size() - 1,
                                             in.operands[0].label);
}

void decode_indexed_branch(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 2) context.unsupported();
  const auto& lists = context.frame().function->branch_targets;
  const auto list = lists.find(in.operands[1].label);
  if (list == lists.end()) context.fail("no .branchtargets for " + in.spelling);
  IndexedBranchOperands op;
  op.index = context.source(in.operands[0], Type::kB32);
  op.targets = context.add_targets(list->second);
  context.emit(exec_indexed_branch, op, Pipe::kControl, TaintRule::kOwn);
  context.reads(op.index);
  context.last_info().is_branch = true;
  context.last_info().ends_path = in.guard < 0;
}

void decode_return(DecodeContext& context) {
  if (context.frame().is_entry) {
    decode_control(context);
    return;
  }
  context.emit(exec_branch, BranchOperands(), Pipe::kControl, TaintRule::kOwn);
  context.last_info().is_branch = true;
  context.last_info().ends_path = context.current().guard < 0;
  context.frame().return_fixups.push_back(context.program().code.size() - 1);
}

namespace {

void decode_sleep(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.operands.size() != 1) context.unsupported();
  const SleepOperands op{context.source(in.operands[0], Type::kU32)};
  context.emit(exec_nanosleep, op, Pipe::kControl, TaintRule::kOwn);
  context.reads(op.ns);
}

/// Decodes griddepcontrol (programmatic dependent launch). The virtual GPU executes launches one
/// after the other, so griddepcontrol only affects checks.
void decode_grid_control(DecodeContext& context) {
  constexpr int kFirst = 90;  // PTX ISA, "griddepcontrol"
  const std::string& target = context.program().target;
  constexpr std::string_view kPrefix = "sm_";
  const bool is_known = target.starts_with(kPrefix);
  if (!is_known || std::atoi(target.c_str() + kPrefix.size()) < kFirst)
    context.unsupported("needs sm_90 or newer, the target is " + target);
  Modifiers modifiers(context.current());
  const int kind = modifiers.take_one_of({"wait", "launch_dependents"});
  modifiers.finish();
  if (kind < 0) modifiers.unsupported();
  const bool waits = kind == 0;
  if (waits) context.program().waits_for_grid = true;
  context.emit(waits ? exec_grid_wait : exec_nop, NoOperands(), Pipe::kControl, TaintRule::kOwn);
}

}  // namespace

void decode_control(DecodeContext& context) {
  const auto emit = [&](Handler fn) {
    context.emit(fn, NoOperands(), Pipe::kControl, TaintRule::kOwn);
  };
  const bool is_guarded = context.current().guard >= 0;
  switch (context.current().opcode) {
    case Opcode::kTrap:
      emit(exec_trap);
      context.last_info().ends_path = !is_guarded;
      break;
    case Opcode::kNanosleep:
      decode_sleep(context);
      break;
    case Opcode::kPmevent:
      emit(exec_nop);  // events of the performance monitor have no effect here
      break;
    case Opcode::kGriddepcontrol:
      decode_grid_control(context);
      break;
    default:  // exit, and ret in the entry
      emit(exec_exit);
      context.last_info().ends_path = !is_guarded;
  }
}

void decode_activemask(DecodeContext& context) {
  const std::uint32_t dst = context.destination(context.current().operands[0], Type::kB32);
  context.emit(exec_activemask, ActiveMaskOperands{dst}, Pipe::kAlu, TaintRule::kAny);
  context.writes(dst);
}

}  // namespace evo::ptx
