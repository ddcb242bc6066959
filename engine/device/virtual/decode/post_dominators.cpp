#include "engine/device/virtual/decode/post_dominators.hpp"

#include <utility>

#include "engine/device/virtual/decode/control_flow.hpp"

namespace evo::ptx {
namespace {

using Edges = std::vector<std::vector<std::uint32_t>>;

Edges edges_of(const Program& program) {
  const auto end = static_cast<std::uint32_t>(program.code.size());
  Edges next(end);
  for (std::uint32_t pc = 0; pc < end; ++pc) {
    next[pc] = successors(program, pc);
    if (program.info[pc].opcode == Opcode::kTrap && next[pc].empty() && pc + 1 < end) {
      next[pc].push_back(pc + 1);
    }
    const bool may_exit = program.code[pc].fn == exec_exit;
    if (may_exit || next[pc].empty() || (!program.info[pc].ends_path && pc + 1 == end)) {
      next[pc].push_back(end);
    }
  }
  return next;
}

/// The instructions in post-order of a depth-first search of the reversed control flow, which
/// starts at the end of the program.
std::vector<std::uint32_t> postorder(const Edges& before, std::uint32_t end) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(before.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> path = {{end, 0}};
  seen[end] = true;
  while (!path.empty()) {
    auto& [at, edge] = path.back();
    if (edge < before[at].size()) {
      const std::uint32_t other = before[at][edge++];
      if (seen[other]) continue;
      seen[other] = true;
      path.emplace_back(other, 0);
    } else {
      order.push_back(at);
      path.pop_back();
    }
  }
  return order;
}

}  // namespace

PostDominators find_post_dominators(const Program& program) {
  PostDominators result{edges_of(program), {}};
  const std::uint32_t end = result.end();
  Edges before(end + 1);
  for (std::uint32_t pc = 0; pc < end; ++pc) {
    for (const std::uint32_t next : result.next[pc]) before[next].push_back(pc);
  }
  const std::vector<std::uint32_t> order = postorder(before, end);
  std::vector<std::uint32_t> rank(end + 1, 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::vector<std::uint32_t>& meeting = result.meeting;
  meeting.assign(end + 1, PostDominators::kNone);
  meeting[end] = end;
  const auto common = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (rank[a] < rank[b]) a = meeting[a];
      while (rank[b] < rank[a]) b = meeting[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t pc = order[i];
      if (pc == end) continue;
      std::uint32_t found = PostDominators::kNone;
      for (const std::uint32_t next : result.next[pc]) {
        if (meeting[next] == PostDominators::kNone) continue;
        found = found == PostDominators::kNone ? next : common(found, next);
      }
      if (found == meeting[pc]) continue;
      meeting[pc] = found;
      changed = true;
    }
  }
  meeting.resize(end);
  return result;
}

}  // namespace evo::ptx
