#include "engine/predict/code_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "engine/predict/operation.hpp"

namespace evo {
namespace {

constexpr std::int64_t kBytesOfInstruction = 16;
constexpr unsigned kBra = 0x147;
constexpr unsigned kCallRel = 0x144;

/// True for BRA, and for a guarded CALL.REL.NOINC, which ptxas uses before sm_90 to leave loops.
bool is_jump(const MachineInstruction& instruction) {
  return instruction.operation() == kBra ||
         (instruction.operation() == kCallRel && instruction.is_guarded());
}

bool ends_block(const MachineInstruction& instruction) {
  const Unit unit = unit_of(instruction);
  return is_jump(instruction) || unit == Unit::kExit || unit == Unit::kReturn;
}

/// The number of bytes from the end of a BRA instruction to its target. Before sm_90, the offset is
/// a number of 4-byte words that begins at bit 34 of the instruction; since sm_90, the lowest eight
/// bits of the offset are stored from bit 16 on.
std::int64_t branch_offset(const MachineInstruction& branch, bool is_sm90) {
  const std::uint64_t field = (branch.low >> 34) | (branch.high & 0x3ffffU) << 30;
  if (!is_sm90) return static_cast<std::int64_t>(field << 16) >> 16 << 2;
  const std::uint64_t wide = field << 8 | (branch.low >> 16 & 0xffU);
  return static_cast<std::int64_t>(wide << 8) >> 8 << 2;
}

/// True for BRA.DIV, which a warp takes if its lanes have diverged.
bool is_divergence_check(const MachineInstruction& branch) {
  return (branch.high >> 27 & 1U) != 0 && branch.operation() == kBra;
}

/// Whether a warp may leave a block in two directions, because the last instruction `end` of the
/// block has a guard, has a second predicate as an operand, or checks for divergence.
bool is_conditional(const MachineInstruction& end) {
  if (end.is_guarded()) return true;
  return end.operation() == kBra && ((end.high >> 23 & 0xfU) != 7 || is_divergence_check(end));
}

bool is_on_mbarrier(const MachineInstruction& instruction) {
  return unit_of(instruction) == Unit::kMbarrier;
}

std::vector<std::size_t> ways(const CodeBlock& block) {
  std::vector<std::size_t> to;
  for (const int way : {block.next, block.target}) {
    if (way >= 0) to.push_back(static_cast<std::size_t>(way));
  }
  return to;
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
  std::vector<std::size_t> at(code.size());  // index: instruction; value: its block
  for (auto leader = leaders.begin(); leader != leaders.end() && *leader < code.size(); ++leader) {
    const auto next = std::next(leader);
    const std::size_t end = next == leaders.end() ? code.size() : std::min(*next, code.size());
    for (std::size_t i = *leader; i < end; ++i) at[i] = blocks_.size();
    blocks_.push_back({*leader, end - 1, -1, -1});
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    CodeBlock& block = blocks_[b];
    const MachineInstruction& end = code[block.last];
    const bool falls = is_conditional(end) || !ends_block(end);
    if (falls && b + 1 < blocks_.size()) block.next = static_cast<int>(b + 1);
    const auto target = targets.find(block.last);
    if (target != targets.end() && !end.is_never() && !is_divergence_check(end))
      block.target = static_cast<int>(at[target->second]);
    const std::span body(code.data() + block.first, code.data() + block.last);
    block.polls = block.target == static_cast<int>(b) && std::ranges::any_of(body, is_on_mbarrier);
  }
  find_loops();
}

void CodeGraph::find_loops() {
  std::map<std::size_t, std::vector<bool>> loops;  // key: header block of the loop
  const std::vector<bool> reached = reachable_without(blocks_.size());
  std::vector<std::vector<std::size_t>> before(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (const std::size_t to : ways(blocks_[b])) before[to].push_back(b);
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!reached[b]) continue;
    for (const std::size_t head : ways(blocks_[b])) {
      // A branch closes a loop only if its target is a block that dominates the branch.
      if (head != b && reachable_without(head)[b]) continue;
      std::vector<bool>& body = loops.try_emplace(head, blocks_.size(), false).first->second;
      body[head] = true;
      std::vector<std::size_t> open = {b};
      while (!open.empty()) {
        const std::size_t inside = open.back();
        open.pop_back();
        if (body[inside] || !reached[inside]) continue;
        body[inside] = true;
        open.insert(open.end(), before[inside].begin(), before[inside].end());
      }
    }
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::vector<bool>* innermost = nullptr;
    for (const auto& [head, body] : loops) {
      if (body[b] && (innermost == nullptr ||
                      std::ranges::count(body, true) < std::ranges::count(*innermost, true)))
        innermost = &body;
    }
    const auto leaves = [&](int to) {
      return innermost != nullptr && to >= 0 && !(*innermost)[static_cast<std::size_t>(to)];
    };
    blocks_[b].target_leaves_loop = leaves(blocks_[b].target);
    blocks_[b].next_leaves_loop = leaves(blocks_[b].next);
  }
}

std::vector<bool> CodeGraph::reachable_without(std::size_t avoided) const {
  std::vector<bool> reached(blocks_.size(), false);
  std::vector<std::size_t> open;
  if (!blocks_.empty()) open.push_back(0);
  while (!open.empty()) {
    const std::size_t b = open.back();
    open.pop_back();
    if (b == avoided || reached[b]) continue;
    reached[b] = true;
    for (const std::size_t to : ways(blocks_[b])) open.push_back(to);
  }
  return reached;
}

void correct_lines_of_polls(const CodeGraph& graph, std::vector<MachineInstruction>& code) {
  for (const CodeBlock& block : graph.blocks()) {
    if (block.target < 0) continue;
    const CodeBlock& loop = graph.blocks()[static_cast<std::size_t>(block.target)];
    if (!loop.polls) continue;
    code[block.last].ptx_line = code[loop.last].ptx_line;
    for (std::size_t poll = loop.first; poll < loop.last; ++poll) {
      if (!is_on_mbarrier(code[poll])) continue;
      for (std::size_t i = block.first; i < block.last; ++i) {
        if (code[i].low == code[poll].low) code[i].ptx_line = code[poll].ptx_line;
      }
    }
  }
}

}  // namespace evo
