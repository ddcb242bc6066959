#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/code_graph.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo {

/// A warp's path through the basic blocks. Derived from the
/// execution of the corresponding PTX branches on the virtual GPU.
struct WarpPlan {
  std::vector<double> branches;    ///< for each block: share of its executions that branch
  std::vector<double> executions;  ///< executions of each block; mean over CTAs
  double instructions = 0;         ///< instructions executed by the warp; mean over CTAs
  double flops = 0;                ///< matrix operations of these, see tensor_flops()
  /// If only some CTAs take one of two directions, the slowest CTA takes the rarer one.
  bool rarer_is_slower = false;
};

/// The path of each warp of a CTA, from the operations of CTAs of its kind.
[[nodiscard]] std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                                   const CodeGraph& graph,
                                                   const LineActivities& lines, int warps_per_cta);

/// How often all warps of a CTA execute each of `instructions` instructions.
[[nodiscard]] std::vector<double> executions_of(const std::vector<WarpPlan>& plans,
                                                const CodeGraph& graph, std::size_t instructions);

/// Whether the paths are about as long as what the PTX executed and contain the same matrix
/// products. Otherwise the counts do not match the machine code.
[[nodiscard]] bool fit(const std::vector<WarpPlan>& plans, const LineActivities& lines);

/// A resident warp's position on its path. At a branch, it takes the direction that leaves a loop
/// (otherwise the rarer one) when the accumulated shares reach one.
class WarpCursor {
 public:
  /// Limit of instructions after which a path ends if the counts are contradictory.
  static constexpr std::uint64_t kMostSteps = 4'000'000;

  /// `phase`: from 0 to 1, different for each CTA. If the mean number of passes is not whole,
  /// evenly spread phases give that mean. With phase 0, a loop makes the most passes.
  WarpCursor(const CodeGraph& graph, const WarpPlan& plan, double phase);
  [[nodiscard]] bool is_done() const { return block_ < 0; }
  [[nodiscard]] std::size_t instruction() const { return instruction_; }
  [[nodiscard]] std::size_t block() const { return static_cast<std::size_t>(block_); }
  void advance();

 private:
  /// The block after `block`, which branches with the share `branches`.
  [[nodiscard]] int way_on(const CodeBlock& block, float branches);

  const CodeGraph* graph_;
  const WarpPlan* plan_;
  float phase_;
  int block_ = 0;
  std::size_t instruction_ = 0;
  std::uint64_t steps_ = 0;
  /// for each block: accumulated share of the counted direction; -1: not met yet
  std::vector<float> owed_;
};

}  // namespace evo
