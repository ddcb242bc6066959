#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The immediate post-dominator of each instruction, which is where the paths from the instruction
/// join. The end of the program has the number of instructions as its index. kNone: no path from
/// the instruction reaches the end. Execution is assumed to continue after a trap, so that
/// assertions do not split paths.
struct PostDominators {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// The instructions that may follow each instruction.
  std::vector<std::vector<std::uint32_t>> next;
  std::vector<std::uint32_t> meeting;

  [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(next.size()); }
};

/// Finds post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast
/// dominance algorithm", 2001) on the reversed control-flow graph.
[[nodiscard]] PostDominators find_post_dominators(const Program& program);

}  // namespace evo::ptx
