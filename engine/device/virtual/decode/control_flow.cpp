#include "engine/device/virtual/decode/control_flow.hpp"

namespace evo::ptx {

std::vector<std::uint32_t> successors(const Program& program, std::size_t pc) {
  const Instr& in = program.code[pc];
  const InstrInfo& info = program.info[pc];
  std::vector<std::uint32_t> next;
  if (const auto* branch = std::get_if<BranchOperands>(&in.operands)) {
    next.push_back(branch->target);
  } else if (const auto* indexed = std::get_if<IndexedBranchOperands>(&in.operands)) {
    const auto first = program.branch_targets.begin() + indexed->targets.first;
    next.assign(first, first + indexed->targets.count);
  }
  if (!info.ends_path && pc + 1 < program.code.size())
    next.push_back(static_cast<std::uint32_t>(pc + 1));
  return next;
}

void visit_until_stable(const Program& program, const std::function<bool(std::uint32_t)>& visit) {
  std::vector<std::uint32_t> worklist = {0};
  std::vector<bool> queued(program.code.size(), false);
  while (!worklist.empty()) {
    const std::uint32_t pc = worklist.back();
    worklist.pop_back();
    queued[pc] = false;
    if (!visit(pc)) continue;
    for (const std::uint32_t next : successors(program, pc)) {
      if (queued[next]) continue;
      queued[next] = true;
      worklist.push_back(next);
    }
  }
}

}  // namespace evo::ptx
