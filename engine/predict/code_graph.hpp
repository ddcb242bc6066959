#pragma once

#include <cstddef>
#include <vector>

#include "engine/cubin/machine_code.hpp"

namespace evo {

/// A basic block of machine code and its successors.
struct CodeBlock {
  std::size_t first = 0;          ///< index of the first instruction
  std::size_t last = 0;           ///< index of the last instruction
  int next = -1;                  ///< next block; -1: the warp ends here
  int target = -1;                ///< target block of its branch; -1: none
  bool next_leaves_loop = false;  ///< the innermost loop that contains it
  bool target_leaves_loop = false;
};

/// The basic blocks of a kernel's machine code. A pure function of the code.
class CodeGraph {
 public:
  /// `is_sm90`: branches have the encoding of sm_90 and later.
  CodeGraph(const std::vector<MachineInstruction>& code, bool is_sm90);
  [[nodiscard]] const std::vector<CodeBlock>& blocks() const { return blocks_; }

 private:
  /// Natural loops: branches back to a block that dominates them. Other cycles, such as waits that
  /// ptxas places after the kernel's end, do not count.
  void find_loops();
  /// The blocks reachable from the first one without passing `avoided`.
  [[nodiscard]] std::vector<bool> reachable_without(std::size_t avoided) const;

  std::vector<CodeBlock> blocks_;
};

}  // namespace evo
