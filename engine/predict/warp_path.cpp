#include "engine/predict/warp_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/predict/operation.hpp"

namespace evo {
namespace {

constexpr std::int64_t kBytesOfInstruction = 16;

/// BRA; and a guarded CALL.REL.NOINC, with which ptxas leaves loops before sm_90.
bool is_jump(const MachineInstruction& instruction) {
  constexpr unsigned kBra = 0x147;
  constexpr unsigned kCallRel = 0x144;
  return instruction.operation() == kBra ||
         (instruction.operation() == kCallRel && instruction.is_guarded());
}

bool ends_block(const MachineInstruction& instruction) {
  const Unit unit = unit_of(instruction);
  return is_jump(instruction) || unit == Unit::kExit || unit == Unit::kReturn;
}

/// Bytes from the next instruction to the target of a BRA. Before sm_90, the field counts words
/// from bit 34 on; since then eight more bits are below, from bit 16 on.
std::int64_t branch_offset(const MachineInstruction& branch, bool is_sm90) {
  const std::uint64_t field = (branch.low >> 34) | (branch.high & 0x3ffffU) << 30;
  if (!is_sm90) return static_cast<std::int64_t>(field << 16) >> 16 << 2;
  const std::uint64_t wide = field << 8 | (branch.low >> 16 & 0xffU);
  return static_cast<std::int64_t>(wide << 8) >> 8 << 2;
}

/// BRA.DIV: taken by warps whose lanes went different ways.
bool is_divergence_check(const MachineInstruction& branch) {
  return (branch.high >> 27 & 1U) != 0 && branch.operation() == 0x147;
}

/// By its guard, or by a second predicate among its operands.
bool is_conditional(const MachineInstruction& end) {
  constexpr unsigned kBra = 0x147;
  if (end.is_guarded()) return true;
  return end.operation() == kBra && ((end.high >> 23 & 0xfU) != 7 || is_divergence_check(end));
}

}  // namespace

CodeGraph::CodeGraph(const std::vector<MachineInstruction>& code, bool is_sm90) {
  std::set<std::size_t> leaders = {0};
  std::unordered_map<std::size_t, std::size_t> targets;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!ends_block(code[i])) continue;
    leaders.insert(i + 1);
    if (!is_jump(code[i])) continue;
    const std::int64_t to =
        static_cast<std::int64_t>(i) + 1 + branch_offset(code[i], is_sm90) / kBytesOfInstruction;
    if (to < 0 || to >= static_cast<std::int64_t>(code.size())) continue;
    targets[i] = static_cast<std::size_t>(to);
    leaders.insert(static_cast<std::size_t>(to));
  }
  at_.resize(code.size());
  for (auto leader = leaders.begin(); leader != leaders.end() && *leader < code.size(); ++leader) {
    const auto next = std::next(leader);
    const std::size_t end = next == leaders.end() ? code.size() : std::min(*next, code.size());
    for (std::size_t i = *leader; i < end; ++i) at_[i] = blocks_.size();
    blocks_.push_back({*leader, end - 1, -1, -1});
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    CodeBlock& block = blocks_[b];
    const MachineInstruction& end = code[block.last];
    const bool falls = is_conditional(end) || !ends_block(end);
    if (falls && b + 1 < blocks_.size()) block.next = static_cast<int>(b + 1);
    const auto target = targets.find(block.last);
    if (target != targets.end() && !end.is_never() && !is_divergence_check(end))
      block.target = static_cast<int>(at_[target->second]);
  }
}

namespace {

/// How often the compiler repeated a block's lines when it unrolled a loop: as often as the line of
/// the instruction at the lower quartile occurs, sorted by that. Conversions and matrix
/// products do not count: one of the PTX may become several.
std::vector<double> unrolled_blocks(const std::vector<MachineInstruction>& code,
                                    const CodeGraph& graph) {
  std::vector<double> unrolled;
  for (const CodeBlock& block : graph.blocks()) {
    std::map<std::pair<std::uint32_t, unsigned>, std::size_t> counts;
    for (std::size_t i = block.first; i <= block.last; ++i) {
      const Unit unit = unit_of(code[i]);
      if (code[i].ptx_line == 0 || unit == Unit::kNone || unit == Unit::kPack ||
          unit == Unit::kTensor)
        continue;
      ++counts[{code[i].ptx_line, code[i].operation()}];
    }
    std::vector<std::size_t> repeats;  // of each instruction's line
    for (const auto& [key, count] : counts) repeats.insert(repeats.end(), count, count);
    std::sort(repeats.begin(), repeats.end());
    unrolled.push_back(repeats.empty() ? 1 : static_cast<double>(repeats[repeats.size() / 4]));
  }
  return unrolled;
}

/// From a line to the nearest one that a block was made from.
double distance(const std::vector<MachineInstruction>& code, const CodeBlock& block,
                std::uint32_t line) {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = block.first; i <= block.last; ++i) {
    if (code[i].ptx_line == 0) continue;
    nearest = std::min(nearest,
                       std::abs(static_cast<double>(code[i].ptx_line) - static_cast<double>(line)));
  }
  return nearest;
}

/// The share of a warp's passes that take the branch at the end of a block, from the branch of the
/// PTX that it was made from, which may go the other way.
class BranchShares {
 public:
  BranchShares(const std::vector<MachineInstruction>& code, const CodeGraph& graph,
               const LaunchProfile& profile)
      : code_(code), graph_(graph), profile_(profile), unrolled_(unrolled_blocks(code, graph)) {
    for (std::size_t b = 0; b < graph.blocks().size(); ++b) {
      const CodeBlock& block = graph.blocks()[b];
      if (block.target >= 0 && block.next >= 0)
        copies_[code[block.last].ptx_line].push_back(std::max(region(b), 1.0));
    }
    for (auto& [line, unrolls] : copies_) std::sort(unrolls.rbegin(), unrolls.rend());
  }

  [[nodiscard]] double share(std::size_t b, std::size_t warp) const {
    const CodeBlock& block = graph_.blocks()[b];
    if (block.target < 0) return ends_here(block, warp) ? 1 : 0;
    if (block.next < 0) return 1;
    const std::uint32_t line = code_[block.last].ptx_line;
    const auto found = profile_.lines.find(line);
    if (found == profile_.lines.end()) return 0;
    const LineActivity& branch = found->second;
    const double executions = of_warp(branch.executions, warp);
    if (branch.target == 0 || executions <= 0) return by_counts(block, warp);
    const double taken = of_warp(branch.taken, warp) / executions;
    if (branch.target <= line && copies_.at(line).size() > 1)
      return of_unrolled(b, copies_.at(line), 1 / std::max(1 - taken, kLeastShare));
    const bool is_back = block.target <= static_cast<int>(b);
    const double share = is_same_way(block, line, branch, is_back) ? taken : 1 - taken;
    if (!is_back) return share;
    return std::max(1 - (1 - share) * unrolled_[b], 0.0);
  }

 private:
  static constexpr double kLeastShare = 1e-7;

  /// How often the loop that a branch closes, or the part of one that it skips, is unrolled.
  [[nodiscard]] double region(std::size_t b) const {
    const CodeBlock& block = graph_.blocks()[b];
    const auto target = static_cast<std::size_t>(block.target);
    double most = 1;
    for (std::size_t i = target <= b ? target : b + 1; i < (target <= b ? b + 1 : target); ++i)
      most = std::max(most, unrolled_[i]);
    return most;
  }

  /// Of a loop that became several, the most unrolled first: each runs as often as what is left of
  /// the `trips` allows.
  [[nodiscard]] double of_unrolled(std::size_t b, const std::vector<double>& unrolls,
                                   double trips) const {
    constexpr double kRounding = 1e-6;
    const double own = region(b);
    for (const double unroll : unrolls) {
      if (unroll <= own) break;
      trips -= unroll * std::floor(trips / unroll + kRounding);
    }
    const double times = std::floor(trips / own + kRounding);
    const bool is_back = graph_.blocks()[b].target <= static_cast<int>(b);
    if (is_back) return times > 1 ? 1 - 1 / times : 0;
    return times >= 1 ? 0 : 1;
  }

  /// By a guarded EXIT: the warp executed nothing of what follows.
  [[nodiscard]] bool ends_here(const CodeBlock& block, std::size_t warp) const {
    return block.next >= 0 && unit_of(code_[block.last]) == Unit::kExit &&
           executions_of(graph_.blocks()[static_cast<std::size_t>(block.next)], warp) <= 0;
  }

  static double of_warp(const std::vector<double>& values, std::size_t warp) {
    return warp < values.size() ? values[warp] : 0;
  }

  [[nodiscard]] bool is_same_way(const CodeBlock& block, std::uint32_t line,
                                 const LineActivity& branch, bool is_back) const {
    if (is_back || branch.target <= line) return is_back == (branch.target <= line);
    const CodeBlock& to = graph_.blocks()[static_cast<std::size_t>(block.target)];
    const CodeBlock& next = graph_.blocks()[static_cast<std::size_t>(block.next)];
    return distance(code_, to, branch.target) + distance(code_, next, branch.next) <=
           distance(code_, to, branch.next) + distance(code_, next, branch.target);
  }

  /// Of a branch that the PTX has not: from the executions of the block that it would skip.
  [[nodiscard]] double by_counts(const CodeBlock& block, std::size_t warp) const {
    const double here = executions_of(block, warp);
    const double next = executions_of(graph_.blocks()[static_cast<std::size_t>(block.next)], warp);
    return here > 0 ? std::clamp(1 - next / here, 0.0, 1.0) : 0;
  }

  /// The median over its lines.
  [[nodiscard]] double executions_of(const CodeBlock& block, std::size_t warp) const {
    std::vector<double> values;
    for (std::size_t i = block.first; i <= block.last; ++i) {
      const auto found = profile_.lines.find(code_[i].ptx_line);
      if (found != profile_.lines.end()) values.push_back(of_warp(found->second.executions, warp));
    }
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  const std::vector<MachineInstruction>& code_;
  const CodeGraph& graph_;
  const LaunchProfile& profile_;
  std::vector<double> unrolled_;
  /// Of each line whose branch occurs in the machine code: how often each copy is unrolled.
  std::map<std::uint32_t, std::vector<double>> copies_;
};

}  // namespace

std::vector<WarpPlan> plans_of_warps(const std::vector<MachineInstruction>& code,
                                     const CodeGraph& graph, const LaunchProfile& profile) {
  constexpr std::uint64_t kMostSteps = 4'000'000;
  const BranchShares shares(code, graph, profile);
  std::vector<WarpPlan> plans;
  std::map<std::vector<double>, std::size_t> known;  // warps that do the same
  for (int w = 0; w < profile.warps_per_cta; ++w) {
    const auto warp = static_cast<std::size_t>(w);
    WarpPlan plan;
    for (std::size_t b = 0; b < graph.blocks().size(); ++b)
      plan.branches.push_back(shares.share(b, warp));
    const auto [same, is_new] = known.emplace(plan.branches, warp);
    if (!is_new) {
      plans.push_back(plans[same->second]);
      continue;
    }
    std::vector<float> before;
    WarpCursor cursor(graph, plan, before);
    std::uint64_t steps = 0;
    for (; !cursor.is_done() && steps < kMostSteps; ++steps) cursor.advance();
    plan.instructions = static_cast<double>(steps);
    plans.push_back(std::move(plan));
  }
  return plans;
}

WarpCursor::WarpCursor(const CodeGraph& graph, const WarpPlan& plan, std::vector<float>& before)
    : graph_(&graph),
      plan_(&plan),
      before_(&before),
      owed_(graph.blocks().size(), 0),
      visits_(graph.blocks().size(), 0) {
  before.resize(graph.blocks().size(), 0.5F);
  if (graph.blocks().empty()) block_ = -1;
}

void WarpCursor::advance() {
  const CodeBlock& block = graph_->blocks()[static_cast<std::size_t>(block_)];
  if (instruction_ < block.last) {
    ++instruction_;
    return;
  }
  constexpr float kWhole = 0.96F;
  const auto b = static_cast<std::size_t>(block_);
  int to = block.next;
  if (block.target >= 0 && block.next < 0) {
    to = block.target;
  } else if (block.target >= 0 || plan_->branches[b] > 0) {
    const auto share = static_cast<float>(plan_->branches[b]);
    // Of a loop, the way out is the rare one.
    const bool is_rare = share <= 0.5F && block.target > block_;
    const float rare_share = is_rare ? share : 1 - share;
    // Outside of loops, what not every CTA does some of them do.
    const bool once = visits_[b]++ == 0 && block.target > block_;
    float& owed = once ? (*before_)[b] : owed_[b];
    owed += rare_share;
    const bool rare = owed >= kWhole;
    if (rare) owed -= 1;
    to = rare == is_rare ? block.target : block.next;
  }
  // Padding behind the end loops for ever; so may counts that contradict each other.
  constexpr std::uint64_t kMostSteps = 20'000'000;
  steps_ += block.last - block.first + 1;
  if ((to == block_ && block.next < 0) || steps_ > kMostSteps) to = -1;
  block_ = to;
  if (to >= 0) instruction_ = graph_->blocks()[static_cast<std::size_t>(to)].first;
}

}  // namespace evo
