#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/code_graph.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo {

/// A warp's path through the basic blocks, derived from the executions of the corresponding PTX
/// branches on the virtual GPU.
struct WarpPlan {
  std::vector<double> branches;    ///< for each block: share of its executions that take the branch
  std::vector<double> executions;  ///< executions of each block; mean over CTAs
  double instructions = 0;         ///< instructions executed by the warp; mean over CTAs
  double flops = 0;                ///< matrix operations of these instructions, see tensor_flops()
  /// If only some CTAs take a direction, the slowest CTA takes the rarer direction.
  bool rarer_is_slower = false;
};

/// The path of each warp of a CTA, from the operations `lines` of CTAs of its kind.
[[nodiscard]] std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                                   const CodeGraph& graph,
                                                   const LineActivities& lines, int warps_per_cta);

/// How often all warps of a CTA execute each of `instructions` instructions.
[[nodiscard]] std::vector<double> executions_of(const std::vector<WarpPlan>& plans,
                                                const CodeGraph& graph, std::size_t instructions);

/// Whether the paths are about as long as the executed PTX and contain the same matrix products. If
/// not, the counts do not match the machine code.
[[nodiscard]] bool fit(const std::vector<WarpPlan>& plans, const LineActivities& lines);

/// The position of a resident warp on its path. At a branch, the warp takes the direction that
/// leaves a loop (otherwise the rarer direction) when the accumulated shares reach one.
class WarpCursor {
 public:
  /// Limit of instructions at which a path ends, in case the counts are contradictory.
  static constexpr std::uint64_t kMostSteps = 4'000'000;

  /// `phase`: from 0 to 1, different for each CTA. If the mean number of passes is not whole,
  /// evenly spread phases give this mean. With phase 0, a loop makes the most passes.
  WarpCursor(const CodeGraph& graph, const WarpPlan& plan, double phase);
  [[nodiscard]] bool is_done() const { return block_ < 0; }
  [[nodiscard]] std::size_t instruction() const { return instruction_; }
  [[nodiscard]] std::size_t block() const { return static_cast<std::size_t>(block_); }
  void advance();

 private:
  /// The block that follows `block`, whose branch is taken with the share `branches`.
  [[nodiscard]] int way_on(const CodeBlock& block, float branches);

  const CodeGraph* graph_;
  const WarpPlan* plan_;
  float phase_;
  int block_ = 0;
  std::size_t instruction_ = 0;
  std::uint64_t steps_ = 0;
  /// for each block: accumulated share of the counted direction; -1: block not reached yet
  std::vector<float> owed_;
};

}  // namespace evo
