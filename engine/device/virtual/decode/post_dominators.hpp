#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// For each instruction, `meeting` is its immediate post-dominator, which is the instruction where
/// all paths from it join. The end of the program has the index end(). kNone: no path from the
/// instruction reaches the end. A trap is treated as if execution continued after it, because each
/// assertion would otherwise be a separate path to the end.
struct PostDominators {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// For each instruction: the instructions that may follow it.
  std::vector<std::vector<std::uint32_t>> next;
  std::vector<std::uint32_t> meeting;

  [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(next.size()); }
};

/// Finds post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast
/// dominance algorithm", 2001) on the reversed control-flow graph.
[[nodiscard]] PostDominators find_post_dominators(const Program& program);

}  // namespace evo::ptx
