#pragma once

#include <cstddef>
#include <vector>

#include "engine/cubin/machine_code.hpp"

namespace evo {

/// A basic block of machine code and its successors.
struct CodeBlock {
  std::size_t first = 0;          ///< index of the first instruction
  std::size_t last = 0;           ///< index of the last instruction
  int next = -1;                  ///< index of the block that follows without a jump; -1: none
  int target = -1;                ///< index of the branch's target block; -1: no branch
  bool next_leaves_loop = false;  ///< whether `next` leaves the block's innermost loop
  bool target_leaves_loop = false;
  bool polls = false;  ///< the block repeats itself until an mbarrier's phase is complete
};

/// The basic blocks of a kernel's machine code and its loops, which are computed from the machine
/// code alone, without the PTX.
class CodeGraph {
 public:
  /// `is_sm90`: whether branches have the encoding that sm_90 and later use.
  CodeGraph(const std::vector<MachineInstruction>& code, bool is_sm90);
  [[nodiscard]] const std::vector<CodeBlock>& blocks() const { return blocks_; }
  /// Whether the branch at the end of the block goes to a loop that polls an mbarrier.
  [[nodiscard]] bool goes_to_poll(const CodeBlock& block) const {
    return block.target >= 0 && blocks_[static_cast<std::size_t>(block.target)].polls;
  }

 private:
  /// Finds the natural loops of the code. A natural loop is closed by a branch back to a block that
  /// dominates the branch. Other cycles in the code, such as waits that ptxas places after the
  /// kernel's end, do not count as loops.
  void find_loops();
  /// The blocks that can be reached from the first block without passing block `avoided`.
  [[nodiscard]] std::vector<bool> reachable_without(std::size_t avoided) const;

  std::vector<CodeBlock> blocks_;
};

/// Corrects the PTX lines of polls. ptxas places a loop that polls an mbarrier behind the kernel's
/// end and repeats the first poll where the warp waits, with the line of an earlier instruction.
void correct_lines_of_polls(const CodeGraph& graph, std::vector<MachineInstruction>& code);

}  // namespace evo
