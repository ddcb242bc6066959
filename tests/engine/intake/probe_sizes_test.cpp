// Tests the choice of small sizes with which evo-init runs kernels.

#include "engine/intake/probe_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace evo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProbeSizes, ProductsOfTwoSizesDifferInEveryProbe) {
  const SizeTexts variables = {{"N", "4096"}, {"C", "4096"}, {"B", "8"}};
  for (const SizeKind kind : kSizeKinds) {
    std::set<double> products;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const auto sizes = probe_sizes(kind, variables, probe);
      EXPECT_LE(sizes.at("B"), 8) << "a size must not exceed the user's size";
      products.insert(sizes.at("N") * sizes.at("C"));
    }
    EXPECT_GE(products.size(), 3U);
  }
}

TEST(ProbeSizes, AMuchLargerSizeStaysLarger) {
  const SizeTexts variables = {{"neurons", "1000000"}, {"per_item", "1000"}};
  for (const SizeKind kind : kSizeKinds) {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const auto sizes = probe_sizes(kind, variables, probe);
      EXPECT_GE(sizes.at("neurons"), 2 * sizes.at("per_item"));
    }
    for (std::size_t proof = 0; proof < kProofs; ++proof) {
      const auto sizes = proof_sizes(kind, variables, proof, 1);
      EXPECT_GE(sizes.at("neurons"), 1024);
      EXPECT_GE(sizes.at("neurons"), 2 * sizes.at("per_item"));
      EXPECT_EQ(proof_sizes(kind, variables, proof, 2).at("neurons"),
                std::floor(sizes.at("neurons") / 2));
    }
  }
}

TEST(ProbeSizes, TheSmallShapeIsNoLargerThanTheOther) {
  EXPECT_THAT(small_shape(SizeKind::kRagged, {{"N", "1000000"}}), ElementsAre("1009"));
  EXPECT_THAT(small_shape(SizeKind::kRagged, {{"N", "100"}, {"taps", "17"}}),
              ElementsAre("97", "17"));
  EXPECT_THAT(small_shape(SizeKind::kRagged, {{"N", "1009"}}), ElementsAre("997"));
  EXPECT_THAT(small_shape(SizeKind::kRound, {{"N", "4096"}, {"C", "4096"}}),
              ElementsAre("128", "256"));
  EXPECT_THAT(small_shape(SizeKind::kRagged, {{"B", "4"}}), IsEmpty());
}

}  // namespace
}  // namespace evo
