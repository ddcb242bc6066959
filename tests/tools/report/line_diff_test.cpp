// Tests line_diff(), which finds the fewest lines that change one text into another (if
// the texts differ in thousands of lines, maybe not the fewest).

#include "tools/report/line_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/random.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using Kind = DiffLine::Kind;

constexpr std::size_t kAll = 1000;

TEST(LineDiff, NamesWhatOnlyOneOfThemHas) {
  EXPECT_THAT(line_diff("a\nb\nc\n", "a\nx\nc\nd\n", kAll),
              ElementsAre(DiffLine{Kind::kBoth, "a"}, DiffLine{Kind::kRemoved, "b"},
                          DiffLine{Kind::kAdded, "x"}, DiffLine{Kind::kBoth, "c"},
                          DiffLine{Kind::kAdded, "d"}));
}

TEST(LineDiff, KeepsSomeLinesAroundADifferenceAndCountsTheOthers) {
  EXPECT_THAT(line_diff("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\nx\n6\n7\n", 1),
              ElementsAre(DiffLine{Kind::kLeftOut, "", 3}, DiffLine{Kind::kBoth, "4"},
                          DiffLine{Kind::kRemoved, "5"}, DiffLine{Kind::kAdded, "x"},
                          DiffLine{Kind::kBoth, "6"}, DiffLine{Kind::kLeftOut, "", 1}));
}

TEST(LineDiff, OfTextsThatAreTheSameOrEmpty) {
  EXPECT_THAT(line_diff("a\nb\n", "a\nb\n"), ElementsAre(DiffLine{Kind::kLeftOut, "", 2}));
  EXPECT_THAT(line_diff("", ""), ElementsAre());
  EXPECT_THAT(line_diff("", "a\n"), ElementsAre(DiffLine{Kind::kAdded, "a"}));
  EXPECT_THAT(line_diff("a", ""), ElementsAre(DiffLine{Kind::kRemoved, "a"}));
}

TEST(LineDiff, GivesBothTextsBackWhereTheyDifferInThousandsOfLines) {
  std::string before;
  std::string after;
  for (int i = 0; i < 4000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  const std::vector<DiffLine> lines = line_diff(before + "same\n", after + "same\n");
  EXPECT_EQ(lines.size(), 8001U);
  EXPECT_EQ(std::ranges::count(lines, Kind::kRemoved, &DiffLine::kind), 4000);
  EXPECT_EQ(lines.back(), (DiffLine{Kind::kBoth, "same"}));
}

/// The length of the longest common subsequence of lines of two texts with one-letter lines.
std::size_t longest_common(const std::string& a, const std::string& b) {
  const std::size_t n = a.size() / 2;
  const std::size_t m = b.size() / 2;
  std::vector<std::vector<std::size_t>> longest(n + 1, std::vector<std::size_t>(m + 1));
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      longest[i][j] = a[2 * i - 2] == b[2 * j - 2] ? longest[i - 1][j - 1] + 1
                                                   : std::max(longest[i - 1][j], longest[i][j - 1]);
    }
  }
  return longest[n][m];
}

TEST(LineDiff, GivesBothTextsBackAndIsShortest) {
  Random random(1);
  const auto text = [&] {
    std::string made;
    for (std::uint64_t lines = random.below(9); lines > 0; --lines) {
      made += static_cast<char>('a' + random.below(4));
      made += '\n';
    }
    return made;
  };
  for (int round = 0; round < 3000; ++round) {
    const std::string before = text();
    const std::string after = text();
    if (before == after) continue;
    std::string left;
    std::string right;
    std::size_t same = 0;
    for (const DiffLine& line : line_diff(before, after, kAll)) {
      if (line.kind != Kind::kAdded) left += line.text + "\n";
      if (line.kind != Kind::kRemoved) right += line.text + "\n";
      if (line.kind == Kind::kBoth) ++same;
    }
    EXPECT_EQ(left, before);
    EXPECT_EQ(right, after);
    EXPECT_EQ(same, longest_common(before, after)) << before << "against\n" << after;
  }
}

}  // namespace
}  // namespace evo
