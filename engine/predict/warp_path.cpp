#include "engine/predict/warp_path.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/predict/branch_shares.hpp"
#include "engine/predict/operation.hpp"

namespace evo {
namespace {

/// Numbers that are equal for two plans if warps with these plans take the same path. Also gives
/// the blocks that replay the same history the same ReplayedBranch::place.
std::vector<double> ways_of(WarpPlan& plan) {
  std::vector<double> ways = plan.branches;
  std::map<const BranchHistory*, std::size_t> places;
  for (ReplayedBranch& replay : plan.replays) {
    if (replay.history == nullptr) continue;
    replay.place = places.emplace(replay.history, replay.place).first->second;
    ways.push_back(static_cast<double>(replay.place));
    for (const BranchHistory::Run& run : replay.history->taken) {
      ways.push_back(static_cast<double>(run.first));
      ways.push_back(static_cast<double>(run.count));
    }
  }
  return ways;
}

}  // namespace

std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                     const CodeGraph& graph, const LineActivities& lines,
                                     int warps_per_cta) {
  constexpr int kPhases = 4;
  const BranchShares shares(code, graph, lines);
  std::vector<WarpPlan> plans;
  std::map<std::vector<double>, std::size_t> known;  // index of a warp for each distinct path
  for (int w = 0; w < warps_per_cta; ++w) {
    const auto warp = static_cast<std::size_t>(w);
    WarpPlan plan;
    for (std::size_t b = 0; b < graph.blocks().size(); ++b) {
      plan.branches.push_back(shares.share(b, warp));
      plan.replays.push_back(shares.replay(b, warp));
    }
    const auto [same, is_new] = known.emplace(ways_of(plan), warp);
    if (!is_new) {
      plans.push_back(plans[same->second]);
      continue;
    }
    plan.executions.resize(graph.blocks().size());
    for (int phase = 0; phase < kPhases; ++phase) {
      WarpCursor cursor(graph, plan, static_cast<double>(phase) / kPhases);
      for (; !cursor.is_done(); cursor.advance()) {
        const std::size_t block = cursor.block();
        if (cursor.instruction() == graph.blocks()[block].first)
          plan.executions[block] += 1.0 / kPhases;
        plan.instructions += 1.0 / kPhases;
        plan.flops += matrix_flops(code[cursor.instruction()]) / kPhases;
      }
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::vector<double> executions_of(const std::vector<WarpPlan>& plans, const CodeGraph& graph,
                                  std::size_t instructions) {
  std::vector<double> result(instructions);
  for (std::size_t b = 0; b < graph.blocks().size(); ++b) {
    const CodeBlock& block = graph.blocks()[b];
    double all = 0;
    for (const WarpPlan& plan : plans) all += plan.executions[b];
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(block.first),
              result.begin() + static_cast<std::ptrdiff_t>(block.last) + 1, all);
  }
  return result;
}

bool fit(const std::vector<WarpPlan>& plans, const LineActivities& lines) {
  constexpr double kLonger = 8;
  constexpr double kShort = 1000;
  constexpr double kFewer = 0.8;
  constexpr double kMore = 1.2;
  double executed = 0;
  double flops = 0;
  for (const auto& [line, activity] : lines) {
    executed += activity.all_executions();
    flops += activity.flops;
  }
  double walked = 0;
  double length = 0;
  for (const WarpPlan& plan : plans) {
    walked += plan.flops;
    length += plan.instructions;
  }
  return length <= kLonger * executed + kShort * static_cast<double>(plans.size()) &&
         walked >= kFewer * flops && walked <= kMore * flops;
}

WarpCursor::WarpCursor(const CodeGraph& graph, const WarpPlan& plan, double phase)
    : graph_(&graph),
      plan_(&plan),
      phase_(static_cast<float>(phase)),
      owed_(graph.blocks().size(), -1),
      replays_(graph.blocks().size()) {
  if (graph.blocks().empty()) block_ = -1;
}

int WarpCursor::way_on(const CodeBlock& block, float branches) {
  const ReplayedBranch& replay = plan_->replays[static_cast<std::size_t>(block_)];
  if (replay.history != nullptr && (replay.is_usual || phase_ == 0)) {
    const bool is_taken = replays_[replay.place].next(*replay.history);
    return is_taken != replay.is_against ? block.target : block.next;
  }
  constexpr float kWhole = 0.999F;
  const bool is_exit = block.target_leaves_loop != block.next_leaves_loop;
  // `owed` counts the direction that leaves a loop or, if neither does, the rarer direction.
  const bool counts_target = is_exit ? block.target_leaves_loop : branches <= 0.5F;
  const float share = counts_target ? branches : 1 - branches;
  float& owed = owed_[static_cast<std::size_t>(block_)];
  // A warp leaves a loop of n passes after the n-th pass, for every `phase_`. At a branch that does
  // not leave a loop, the warps of many CTAs together take each direction as often as the virtual
  // GPU counted.
  if (owed < 0) owed = is_exit ? phase_ * share : phase_;
  owed += share;
  const bool is_whole = owed >= kWhole;
  if (is_whole) owed = std::max(owed - 1, 0.0F);
  return is_whole == counts_target ? block.target : block.next;
}

void WarpCursor::advance() {
  const CodeBlock& block = graph_->blocks()[static_cast<std::size_t>(block_)];
  if (instruction_ < block.last) {
    ++instruction_;
    return;
  }
  int to = block.next;
  if (block.target >= 0 && block.next < 0) {
    to = block.target;
  } else if (block.target >= 0 || plan_->branches[static_cast<std::size_t>(block_)] > 0 ||
             plan_->replays[static_cast<std::size_t>(block_)].history != nullptr) {
    to = way_on(block, static_cast<float>(plan_->branches[static_cast<std::size_t>(block_)]));
  }
  // After the last instruction, the code has padding that is an endless loop, at which a path ends.
  steps_ += block.last - block.first + 1;
  if ((to == block_ && block.next < 0) || steps_ > kMostSteps) to = -1;
  block_ = to;
  if (to >= 0) instruction_ = graph_->blocks()[static_cast<std::size_t>(to)].first;
}

}  // namespace evo
