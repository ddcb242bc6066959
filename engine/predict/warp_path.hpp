#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/code_graph.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo {

/// How a warp goes through the blocks: what the virtual GPU saw it do at the branches of the PTX
/// that the machine code was made from.
struct WarpPlan {
  std::vector<double> branches;    ///< of each block: share of its executions that branch
  std::vector<double> executions;  ///< of each block; mean over CTAs
  double instructions = 0;         ///< that the warp executes; likewise
  double flops = 0;                ///< of these, as tensor_flops()
  /// Of two ways that only some CTAs take, the slowest CTA takes the rarer one.
  bool rarer_is_slower = false;
};

/// Of each warp of a CTA, from what CTAs of its kind did.
[[nodiscard]] std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                                   const CodeGraph& graph,
                                                   const LineActivities& lines, int warps_per_cta);

/// How often each of `instructions` instructions is executed by all warps of a CTA.
[[nodiscard]] std::vector<double> executions_of(const std::vector<WarpPlan>& plans,
                                                const CodeGraph& graph, std::size_t instructions);

/// Whether the ways are about as long as what the PTX executed, with the same matrix products:
/// otherwise the counts do not fit the machine code.
[[nodiscard]] bool fit(const std::vector<WarpPlan>& plans, const LineActivities& lines);

/// A warp's place on its way, one for each resident warp. Of two ways, one that leaves a loop (else
/// the rarer one) is gone when its shares have added up to a whole.
class WarpCursor {
 public:
  /// Where the counts contradict each other, a way ends after so many instructions.
  static constexpr std::uint64_t kMostSteps = 4'000'000;

  /// `phase`: from 0 to 1, another one for each CTA: where the mean number of passes is not whole,
  /// phases spread evenly have that mean. At 0 a loop makes the most passes.
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
  std::vector<float> owed_;  ///< of each block: what the counted way has saved up; -1: not met yet
};

}  // namespace evo
