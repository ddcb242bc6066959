#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo {

/// A stretch of machine code without branches, and where a warp goes from there.
struct CodeBlock {
  std::size_t first = 0;  ///< instruction
  std::size_t last = 0;   ///< instruction; included
  int next = -1;          ///< block that follows; -1: the warp ends here
  int target = -1;        ///< block that it may branch to; -1: none
};

/// The blocks of a kernel's machine code. Pure function of the code.
class CodeGraph {
 public:
  CodeGraph(const std::vector<MachineInstruction>& code, bool is_sm90);
  [[nodiscard]] const std::vector<CodeBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t block_of(std::size_t instruction) const { return at_[instruction]; }

 private:
  std::vector<CodeBlock> blocks_;
  std::vector<std::size_t> at_;
};

/// How a warp goes through the blocks: what the virtual GPU saw it do at the branches of the PTX
/// that the machine code was made from.
struct WarpPlan {
  std::vector<double> branches;  ///< of each block: share of its executions that branch
  double instructions = 0;       ///< all that the warp executes
};

/// Of each warp of a CTA.
[[nodiscard]] std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                                   const CodeGraph& graph,
                                                   const LaunchProfile& profile);

/// A warp's place on its way. Small: one for each resident warp.
class WarpCursor {
 public:
  /// `before`: of all warps of this number in the CTAs that came before, and of this one.
  WarpCursor(const CodeGraph& graph, const WarpPlan& plan, std::vector<float>& before);
  [[nodiscard]] bool is_done() const { return block_ < 0; }
  [[nodiscard]] std::size_t instruction() const { return instruction_; }
  void advance();

 private:
  const CodeGraph* graph_;
  const WarpPlan* plan_;
  std::vector<float>* before_;
  int block_ = 0;
  std::size_t instruction_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<float> owed_;  ///< of each block: what the rarer way has saved up
  std::vector<std::uint32_t> visits_;
};

}  // namespace evo
