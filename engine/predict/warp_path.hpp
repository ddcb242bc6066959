#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/code_graph.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo {

/// A machine branch that takes the directions of a PTX branch in the order that the virtual GPU
/// recorded.
struct ReplayedBranch {
  const BranchHistory* history = nullptr;  ///< null: the branch is not replayed
  bool is_usual = false;    ///< CTAs take the branch, on average, as often as the history says
  bool is_against = false;  ///< the machine branch is taken when the PTX branch is not
  std::size_t place = 0;  ///< first block with the same history; these blocks share a BranchReplay
};

/// The plan for a warp's path through the basic blocks of machine code, derived from how often the
/// virtual GPU executed the corresponding PTX branches.
struct WarpPlan {
  std::vector<double> branches;  ///< for each block: share of its executions that take the branch
  std::vector<ReplayedBranch> replays;  ///< for each block: how to replay the branch at its end
  std::vector<double> executions;       ///< executions of each block; mean over CTAs
  double instructions = 0;              ///< instructions executed by the warp; mean over CTAs
  double flops = 0;  ///< matrix operations of these instructions, see matrix_flops()
};

/// Makes a plan for each warp of a CTA. `lines`: the operations of the CTA at each PTX line.
[[nodiscard]] std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                                   const CodeGraph& graph,
                                                   const LineActivities& lines, int warps_per_cta);

/// For each of `instructions` machine instructions, how often all warps of a CTA together execute
/// it.
[[nodiscard]] std::vector<double> executions_of(const std::vector<WarpPlan>& plans,
                                                const CodeGraph& graph, std::size_t instructions);

/// Whether the operations `lines` match the machine code: the planned paths must not be much longer
/// than the executed PTX, and must contain about the same matrix products.
[[nodiscard]] bool fit(const std::vector<WarpPlan>& plans, const LineActivities& lines);

/// The position of a resident warp on its path through the basic blocks. At a branch with a history
/// (ReplayedBranch), the warp repeats the history. At any other branch, each pass adds the share of
/// one direction to a sum: the direction that leaves a loop or, if neither does, the rarer one. The
/// warp takes the direction whose shares are added whenever the sum reaches one.
class WarpCursor {
 public:
  /// Limit of the instructions on a path, in case the shares of its branches are contradictory.
  static constexpr std::uint64_t kMostSteps = 4'000'000;

  /// `phase`: a number from 0 to 1 that differs between CTAs. If the mean number of passes of a
  /// loop is not whole, CTAs with evenly spread phases make this number on average. If `phase` is
  /// 0, a loop makes the largest number of passes, and the warp also repeats the histories of
  /// branches that other CTAs take more or less often.
  WarpCursor(const CodeGraph& graph, const WarpPlan& plan, double phase);
  [[nodiscard]] bool is_done() const { return block_ < 0; }
  [[nodiscard]] std::size_t instruction() const { return instruction_; }
  [[nodiscard]] std::size_t block() const { return static_cast<std::size_t>(block_); }
  void advance();

 private:
  /// The block that follows `block`; `branches` is the share of passes in which its branch is
  /// taken.
  [[nodiscard]] int way_on(const CodeBlock& block, float branches);

  const CodeGraph* graph_;
  const WarpPlan* plan_;
  float phase_;
  int block_ = 0;
  std::size_t instruction_ = 0;
  std::uint64_t steps_ = 0;
  /// for each block: the sum to which each pass adds the share of one direction; -1 before the
  /// first pass
  std::vector<float> owed_;
  std::vector<BranchReplay> replays_;
};

}  // namespace evo
