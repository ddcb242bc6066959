#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/predict/operation.hpp"
#include "engine/predict/warp_path.hpp"

namespace evo {

/// For each branch of the machine code: the history that a simulated warp replays, or the fraction
/// of the branch's executions in which the warp takes the branch. Both come from the PTX branch
/// from which the compiler made the machine branch. The compiler may have exchanged the two
/// directions of the PTX branch.
class BranchShares {
 public:
  BranchShares(const std::vector<MachineInstruction>& code, const CodeGraph& graph,
               const LineActivities& lines)
      : code_(code), graph_(graph), lines_(lines), unrolled_(unrolled_blocks(code, graph)) {
    for (std::size_t b = 0; b < graph.blocks().size(); ++b) {
      const CodeBlock& block = graph.blocks()[b];
      if (block.target < 0 || block.next < 0 || graph.goes_to_poll(block)) continue;
      copies_[code[block.last].ptx_line].push_back(std::max(region(b), 1.0));
      if (block.target <= static_cast<int>(b) && unrolled_[b] > 1)
        unrolled_loops_.insert(code[block.last].ptx_line);
    }
    for (auto& [line, unrolls] : copies_) std::sort(unrolls.rbegin(), unrolls.rend());
  }

  [[nodiscard]] double share(std::size_t b, std::size_t warp) const {
    const CodeBlock& block = graph_.blocks()[b];
    if (block.target < 0) return ends_here(block, warp) ? 1 : 0;
    if (block.next < 0) return 1;
    const std::uint32_t line = code_[block.last].ptx_line;
    const auto found = lines_.find(line);
    if (found == lines_.end()) return 0;
    const LineActivity& branch = found->second;
    const double executions = of_warp(branch.executions, warp);
    if (branch.target == 0 || executions <= 0) return by_counts(block, warp);
    const double taken = of_warp(branch.taken, warp) / executions;
    if (graph_.goes_to_poll(block)) return taken;
    if (branch.target <= line && copies_.at(line).size() > 1)
      return of_unrolled(b, copies_.at(line), 1 / std::max(1 - taken, kLeastShare));
    const bool is_back = block.target <= static_cast<int>(b);
    if (!is_back && is_added(b, line, branch)) {
      if (const auto skips = skips_loop(b, warp)) return *skips;
    }
    const double share = is_same_way(block, line, branch, is_back) ? taken : 1 - taken;
    if (!is_back) return share;
    return std::max(1 - (1 - share) * unrolled_[b], 0.0);
  }

  /// The history that the branch at the end of block `b` replays, if each execution of the branch
  /// is one execution of a PTX branch; else an empty ReplayedBranch.
  [[nodiscard]] ReplayedBranch replay(std::size_t b, std::size_t warp) const {
    const CodeBlock& block = graph_.blocks()[b];
    const bool may_end = unit_of(code_[block.last]) == Unit::kExit;
    if ((block.target < 0 && !may_end) || block.next < 0 || graph_.goes_to_poll(block)) return {};
    const std::uint32_t line = code_[block.last].ptx_line;
    const auto found = lines_.find(line);
    if (found == lines_.end() || warp >= found->second.histories.size()) return {};
    const LineActivity& branch = found->second;
    const BranchHistory& history = branch.histories[warp];
    if (history.executions == 0) return {};
    const bool is_back = block.target >= 0 && block.target <= static_cast<int>(b);
    const bool closes_loop = branch.target <= line;
    if (unrolled_loops_.contains(line) || (closes_loop && (may_end || copies_.at(line).size() > 1)))
      return {};
    const bool is_like_others = is_usual(branch, history, warp);
    // If only some CTAs continue behind a guarded EXIT, for example to merge results, the warp
    // replays no history, so that it continues, as in the slowest CTA.
    if (may_end && !is_like_others && !copies_.contains(line)) return {};
    if (!may_end && !is_back && is_added(b, line, branch) && skips_loop(b, warp)) return {};
    return {&history, is_like_others, !is_same_way(block, line, branch, is_back), b};
  }

 private:
  static constexpr double kLeastShare = 1e-7;

  /// How often the compiler repeated the PTX lines of instructions `first` to `last` by unrolling a
  /// loop: the lower quartile of the numbers of repetitions of these lines. Conversions and matrix
  /// products are ignored, because one PTX instruction of these kinds may become several machine
  /// instructions.
  static double repetitions(const std::vector<MachineInstruction>& code, std::size_t first,
                            std::size_t last) {
    std::map<std::pair<std::uint32_t, unsigned>, std::size_t> counts;
    for (std::size_t i = first; i <= last; ++i) {
      const Unit unit = unit_of(code[i]);
      if (code[i].ptx_line == 0 || unit == Unit::kNone || unit == Unit::kPack ||
          unit == Unit::kTensor)
        continue;
      ++counts[{code[i].ptx_line, code[i].operation()}];
    }
    std::vector<std::size_t> repeats;  // for each instruction: repetitions of its line
    for (const auto& [key, count] : counts) repeats.insert(repeats.end(), count, count);
    std::sort(repeats.begin(), repeats.end());
    return repeats.empty() ? 1 : static_cast<double>(repeats[repeats.size() / 4]);
  }

  /// For each block, how often the compiler repeated it by unrolling a loop. A block that closes a
  /// loop of several blocks counts as repeated at most as often as all these blocks together.
  static std::vector<double> unrolled_blocks(const std::vector<MachineInstruction>& code,
                                             const CodeGraph& graph) {
    std::vector<double> unrolled;
    for (const CodeBlock& block : graph.blocks()) {
      unrolled.push_back(repetitions(code, block.first, block.last));
      if (unrolled.back() == 1 || block.target < 0 || block.next < 0) continue;
      const std::size_t head = graph.blocks()[static_cast<std::size_t>(block.target)].first;
      if (head < block.first)
        unrolled.back() = std::min(unrolled.back(), repetitions(code, head, block.last));
    }
    return unrolled;
  }

  /// The distance from `line` to the nearest PTX line from which an instruction of the block was
  /// made.
  static double distance(const std::vector<MachineInstruction>& code, const CodeBlock& block,
                         std::uint32_t line) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = block.first; i <= block.last; ++i) {
      if (code[i].ptx_line == 0) continue;
      nearest = std::min(
          nearest, std::abs(static_cast<double>(code[i].ptx_line) - static_cast<double>(line)));
    }
    return nearest;
  }

  /// `history` comes from one CTA. Returns whether this CTA takes the branch as often as CTAs do on
  /// average.
  static bool is_usual(const LineActivity& branch, const BranchHistory& history, std::size_t warp) {
    constexpr double kAlike = 0.01;
    const double executions = of_warp(branch.executions, warp);
    return executions > 0 &&
           std::abs(of_warp(branch.taken, warp) / executions - history.share()) < kAlike;
  }

  /// How often the compiler repeated the body of the loop that the branch closes, or of the loop
  /// that the branch skips, by unrolling.
  [[nodiscard]] double region(std::size_t b) const {
    const CodeBlock& block = graph_.blocks()[b];
    const auto target = static_cast<std::size_t>(block.target);
    double most = 1;
    for (std::size_t i = target <= b ? target : b + 1; i < (target <= b ? b + 1 : target); ++i)
      most = std::max(most, unrolled_[i]);
    return most;
  }

  /// The fraction of executions that take the branch at the end of block `b`, if the compiler made
  /// several copies of a loop and the PTX loop makes `trips` passes. The copy of the
  /// loop with the most repetitions runs first; each copy runs as often as the remaining `trips`
  /// allow.
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

  /// The smaller of the distances in PTX lines from `line` to the two targets of a branch.
  [[nodiscard]] double nearest(const CodeBlock& block, std::uint32_t line) const {
    const auto& blocks = graph_.blocks();
    return std::min(distance(code_, blocks[static_cast<std::size_t>(block.target)], line),
                    distance(code_, blocks[static_cast<std::size_t>(block.next)], line));
  }

  /// Whether another machine branch corresponds better to the PTX branch at `line`, so that the
  /// compiler must have added branch `b` to select between copies of an unrolled loop.
  [[nodiscard]] bool is_added(std::size_t b, std::uint32_t line, const LineActivity& branch) const {
    if (copies_.at(line).size() < 2) return false;
    const double own = nearest(graph_.blocks()[b], branch.target);
    return std::ranges::any_of(graph_.blocks(), [&](const CodeBlock& other) {
      return other.target >= 0 && other.next >= 0 && code_[other.last].ptx_line == line &&
             nearest(other, branch.target) < own;
    });
  }

  /// If the branch can skip an unrolled loop: 1 if the warp makes too few passes for it, else 0.
  [[nodiscard]] std::optional<double> skips_loop(std::size_t b, std::size_t warp) const {
    const auto& blocks = graph_.blocks();
    const auto end = static_cast<std::size_t>(blocks[b].target);
    for (std::size_t i = b + 1; i < end; ++i) {
      if (blocks[i].target < 0 || blocks[i].next < 0 || blocks[i].target > static_cast<int>(i))
        continue;
      const auto found = lines_.find(code_[blocks[i].last].ptx_line);
      if (found == lines_.end() || !unrolled_loops_.contains(found->first)) continue;
      const double executions = of_warp(found->second.executions, warp);
      if (executions <= 0) return 1;
      const double left = 1 - of_warp(found->second.taken, warp) / executions;
      return 1 / std::max(left, kLeastShare) >= region(i) ? 0 : 1;
    }
    return std::nullopt;
  }

  /// Whether the warp always ends at the guarded EXIT of a block, because it never executes the
  /// next block.
  [[nodiscard]] bool ends_here(const CodeBlock& block, std::size_t warp) const {
    return block.next >= 0 && unit_of(code_[block.last]) == Unit::kExit &&
           executions_of(graph_.blocks()[static_cast<std::size_t>(block.next)], warp) <= 0;
  }

  static double of_warp(const std::vector<double>& values, std::size_t warp) {
    return warp < values.size() ? values[warp] : 0;
  }

  [[nodiscard]] bool is_same_way(const CodeBlock& block, std::uint32_t line,
                                 const LineActivity& branch, bool is_back) const {
    if (branch.target <= line) return is_back;
    // Ignores instructions with earlier lines than the PTX block's first line, because ptxas moved
    // such instructions in from other blocks.
    const auto apart = [&](int way, std::uint32_t from) {
      constexpr double kFar = 1e6;
      if (way < 0) return 0.0;
      const CodeBlock& to = graph_.blocks()[static_cast<std::size_t>(way)];
      // ptxas gives an EXIT after a branch the line of the branch, so the line is no evidence.
      if (to.first == to.last && unit_of(code_[to.first]) == Unit::kExit) return 0.0;
      double nearest = kFar;
      for (std::size_t i = to.first; i <= to.last; ++i) {
        if (code_[i].ptx_line >= from)
          nearest = std::min(nearest, static_cast<double>(code_[i].ptx_line - from));
      }
      return nearest;
    };
    return apart(block.target, branch.target) + apart(block.next, branch.next) <=
           apart(block.target, branch.next) + apart(block.next, branch.target);
  }

  /// For a machine branch without a PTX branch: the fraction of executions that take the branch,
  /// derived from how often the block that the branch skips is executed.
  [[nodiscard]] double by_counts(const CodeBlock& block, std::size_t warp) const {
    const double here = executions_of(block, warp);
    const double next = executions_of(graph_.blocks()[static_cast<std::size_t>(block.next)], warp);
    return here > 0 ? std::clamp(1 - next / here, 0.0, 1.0) : 0;
  }

  /// How often a warp executes a block: the median of the executions of the block's PTX lines.
  [[nodiscard]] double executions_of(const CodeBlock& block, std::size_t warp) const {
    std::vector<double> values;
    for (std::size_t i = block.first; i <= block.last; ++i) {
      const auto found = lines_.find(code_[i].ptx_line);
      if (found != lines_.end()) values.push_back(of_warp(found->second.executions, warp));
    }
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  const std::vector<MachineInstruction>& code_;
  const CodeGraph& graph_;
  const LineActivities& lines_;
  std::vector<double> unrolled_;
  /// For each PTX line: for each machine branch that was made from the line, how often the compiler
  /// repeated the loop's body by unrolling.
  std::map<std::uint32_t, std::vector<double>> copies_;
  std::set<std::uint32_t> unrolled_loops_;  ///< PTX lines of branches that close an unrolled loop
};

}  // namespace evo
