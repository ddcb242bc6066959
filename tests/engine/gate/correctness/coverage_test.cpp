#include "engine/gate/correctness/coverage.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(Coverage, SaysSeedsAndPartsOfEveryShape) {
  std::vector<CheckResult> checks;
  for (const char* shape : {"small", "small", "ragged", "ragged", "mission"}) {
    checks.push_back({.shape = shape});
  }
  EXPECT_EQ(coverage_text(checks), "2 seeds: small, ragged; 1 seed: mission");
  checks.push_back({.shape = "long", .sampled = "64 of 512 CTAs"});
  EXPECT_EQ(coverage_text(checks),
            "2 seeds: small, ragged; 1 seed: mission; 1 seed, 64 of 512 CTAs: long");
  EXPECT_EQ(coverage_text({}), "");
}

}  // namespace
}  // namespace evo
