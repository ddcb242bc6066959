#include "engine/device/virtual/control_flow.hpp"

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

}  // namespace evo::ptx
