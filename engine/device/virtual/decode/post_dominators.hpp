#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The immediate post-dominator of each instruction, where the paths from it join. The number of
/// instructions stands for the end of the program; kNone: no path from the instruction reaches the
/// end. A trap counts as if execution continued, so that assertions do not split the paths.
struct PostDominators {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// The instructions that may follow each instruction.
  std::vector<std::vector<std::uint32_t>> next;
  std::vector<std::uint32_t> meeting;

  [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(next.size()); }
};

/// By the iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm",
/// 2001) on the reversed graph.
[[nodiscard]] PostDominators find_post_dominators(const Program& program);

}  // namespace evo::ptx
