// Compares immediate post-dominators with their definition, in programs with random branches.
#include "engine/device/virtual/decode/post_dominators.hpp"

#include <gtest/gtest.h>

#include <string>

#include "engine/core/random.hpp"
#include "engine/device/virtual/decode/decoder.hpp"
#include "engine/ptx/parser.hpp"

namespace evo::ptx {
namespace {

/// A random program of blocks of one instruction. A branch (conditional or not) or an exit may
/// follow each block.
std::string drawn_program(Random& random) {
  constexpr std::uint64_t kBlocks = 12;
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u32 n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
      "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 0;\n";
  for (std::uint64_t block = 0; block < kBlocks; ++block) {
    text += "L" + std::to_string(block) + ":\nadd.u32 %r2, %r2, %r1;\n";
    const std::string target = "bra L" + std::to_string(random.below(kBlocks)) + ";\n";
    const std::uint64_t kind = random.below(10);
    if (kind < 5) text += "@%p1 " + target;
    if (kind == 5) text += target;
    if (kind == 6) text += "@%p1 ret;\n";
    if (kind == 7) text += "ret;\n";
  }
  return text + "ret;\n}\n";
}

/// Whether a path of the control flow leads from instruction `from` to the end without passing
/// instruction `without`.
bool reaches_end(const PostDominators& graph, std::uint32_t from, std::uint32_t without) {
  std::vector<bool> seen(graph.end() + 1, false);
  std::vector<std::uint32_t> left = {from};
  while (!left.empty()) {
    const std::uint32_t pc = left.back();
    left.pop_back();
    if (pc == without || seen[pc]) continue;
    if (pc == graph.end()) return true;
    seen[pc] = true;
    left.insert(left.end(), graph.next[pc].begin(), graph.next[pc].end());
  }
  return false;
}

TEST(PostDominatorsTest, AreTheNearestOnEveryPathToTheEnd) {
  Random random(11);
  int branches = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string text = drawn_program(random);
    const auto program = decode_entry(parse_ptx(text), "k", {});
    const PostDominators found = find_post_dominators(*program);
    const std::uint32_t end = found.end();
    for (std::uint32_t pc = 0; pc < end; ++pc) {
      if (!reaches_end(found, pc, PostDominators::kNone)) {
        ASSERT_EQ(found.meeting[pc], PostDominators::kNone) << text;
        continue;
      }
      const std::uint32_t meeting = found.meeting[pc];
      ASSERT_NE(meeting, pc) << text;
      if (meeting != end) {
        ASSERT_FALSE(reaches_end(found, pc, meeting)) << pc << "\n" << text;
      }
      // Every other post-dominator of the instruction also post-dominates the immediate
      // post-dominator.
      for (std::uint32_t other = 0; other < end; ++other) {
        if (other == pc || other == meeting || reaches_end(found, pc, other)) continue;
        ASSERT_NE(meeting, end) << pc << ", " << other << "\n" << text;
        ASSERT_FALSE(reaches_end(found, meeting, other)) << pc << ", " << other << "\n" << text;
      }
      branches += found.next[pc].size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(branches, 500);
}

}  // namespace
}  // namespace evo::ptx
