// Tests the search for an expression that gives the number of elements that a kernel accesses.

#include "engine/intake/extent_fit.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace evo {
namespace {

using Count = std::function<std::uint64_t(std::uint64_t n, std::uint64_t c)>;

ExtentFit fit_of(const Count& count) {
  std::vector<ExtentSample> samples;
  for (const auto& [n, c] : std::vector<std::pair<int, int>>{{37, 53}, {53, 83}, {83, 41}}) {
    samples.push_back({{{"N", n}, {"C", c}},
                       count(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(c))});
  }
  return fitted_extent({"N", "C"}, samples);
}

TEST(ExtentFit, TheSimplestExpressionIsTaken) {
  EXPECT_EQ(fit_of([](auto n, auto) { return n; }).text, "N");
  EXPECT_EQ(fit_of([](auto n, auto c) { return n * c; }).text, "N*C");
  EXPECT_EQ(fit_of([](auto, auto) { return 256; }).text, "256");
  EXPECT_EQ(fit_of([](auto n, auto) { return n * n; }).text, "N*N");
  EXPECT_EQ(fit_of([](auto n, auto c) { return n * c * c; }).text, "N*C*C");
  EXPECT_EQ(fit_of([](auto n, auto) { return n + 1; }).text, "N + 1");
  EXPECT_EQ(fit_of([](auto n, auto c) { return 4 * n * c; }).text, "4*N*C");
  EXPECT_EQ(fit_of([](auto n, auto) { return (n + 3) / 4; }).text, "ceil_div(N, 4)");
  EXPECT_EQ(fit_of([](auto n, auto) { return n / 2 * 2; }).text, "2*floor_div(N, 2)");
  EXPECT_EQ(fit_of([](auto n, auto c) { return (n + c - 1) / c + n; }).text, "")
      << "none of the tried expressions fits";
  EXPECT_EQ(fit_of([](auto n, auto c) { return (n + 6) * (c + 6); }).text, "(N + 6)*(C + 6)");
}

TEST(ExtentFit, OneSizeMayDivideAnother) {
  std::vector<ExtentSample> samples;
  for (const auto& [n, c] : std::vector<std::pair<int, int>>{{401, 53}, {503, 83}, {307, 101}}) {
    samples.push_back({{{"N", n}, {"C", c}}, static_cast<std::uint64_t>((n + c - 1) / c)});
  }
  EXPECT_EQ(fitted_extent({"N", "C"}, samples).text, "ceil_div(N, C)");
}

TEST(ExtentFit, ABorderThatIsLeftOutBelongsToTheBuffer) {
  const ExtentFit fit = fit_of([](auto n, auto c) { return n * c - c - 1; });
  EXPECT_EQ(fit.text, "N*C");
  EXPECT_FALSE(fit.is_exact);
  EXPECT_TRUE(fit_of([](auto n, auto c) { return n * c; }).is_exact);
  EXPECT_EQ(fit_of([](auto n, auto c) { return n * c - 1; }).text, "N*C")
      << "2*floor_div(N*C, 2) gives the same numbers, because all sizes are odd";
  EXPECT_EQ(fit_of([](auto n, auto c) { return n * c / 4 * 4; }).text, "4*floor_div(N*C, 4)");
  EXPECT_EQ(fit_of([](auto n, auto c) { return n * c / 2 + 7 * n; }).text, "")
      << "half of the buffer is too much for a border that the kernel leaves out";
}

TEST(ExtentFit, NothingTouchedIsNothingKnown) {
  EXPECT_EQ(fit_of([](auto, auto) { return 0; }).text, "");
  EXPECT_EQ(fitted_extent({}, {}).text, "");
}

}  // namespace
}  // namespace evo
