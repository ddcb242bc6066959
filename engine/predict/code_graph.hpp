#pragma once

#include <cstddef>
#include <vector>

#include "engine/cubin/machine_code.hpp"

namespace evo {

/// A stretch of machine code without branches, and where a warp goes from there.
struct CodeBlock {
  std::size_t first = 0;          ///< instruction
  std::size_t last = 0;           ///< instruction; included
  int next = -1;                  ///< block that follows; -1: the warp ends here
  int target = -1;                ///< block that it may branch to; -1: none
  bool next_leaves_loop = false;  ///< the innermost one that it is in
  bool target_leaves_loop = false;
};

/// The blocks of a kernel's machine code. Pure function of the code.
class CodeGraph {
 public:
  /// `is_sm90`: branches are encoded as since sm_90.
  CodeGraph(const std::vector<MachineInstruction>& code, bool is_sm90);
  [[nodiscard]] const std::vector<CodeBlock>& blocks() const { return blocks_; }

 private:
  /// Natural loops: ways back to a block that every way to their start has passed. Others, as of
  /// waits that ptxas placed behind the kernel's end, are none.
  void find_loops();
  /// The blocks to which a way leads from the first one that does not pass `avoided`.
  [[nodiscard]] std::vector<bool> reachable_without(std::size_t avoided) const;

  std::vector<CodeBlock> blocks_;
};

}  // namespace evo
