#include "engine/device/virtual/decode/control_flow.hpp"

namespace evo::ptx {

std::vector<std::uint32_t> successors(const Program& program, std::size_t pc) {
  const Instr& in = program.code[pc];
  const InstrInfo& info = program.info[pc];
  std::vector<std::uint32_t> next;
  if (info.is_branch) {
    if (in.extra_count > 0) {
      for (std::uint32_t i = 0; i < in.extra_count; ++i)
        next.push_back(program.extra[in.extra + i]);
    } else {
      next.push_back(static_cast<std::uint32_t>(in.imm));
    }
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
