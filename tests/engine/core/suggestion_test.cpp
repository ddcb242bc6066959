#include "engine/core/suggestion.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

const std::vector<std::string> kOptions = {"--generations", "--offspring", "--seed", "--space",
                                           "--shape",       "--device",    "--db"};

TEST(NearestName, FindsWhatWasMisspelt) {
  EXPECT_EQ(nearest_name("--generation", kOptions), "--generations");
  EXPECT_EQ(nearest_name("--genertions", kOptions), "--generations");
  EXPECT_EQ(nearest_name("--SEED", kOptions), "--seed");
  EXPECT_EQ(nearest_name("--hsape", kOptions), "--shape") << "two letters are swapped";
  EXPECT_EQ(nearest_name("--sapce", kOptions), "--space");
  EXPECT_EQ(nearest_name("sdpa_fp8_mma_h20", {"sdpa_fp8_mma_h200", "sdpa_fp8_mma_l4"}),
            "sdpa_fp8_mma_h200");
}

TEST(NearestName, CompletesABeginningThatOnlyOneNameHas) {
  EXPECT_EQ(nearest_name("--gen", kOptions), "--generations");
  EXPECT_EQ(nearest_name("row", {"row_softmax_l4", "sdpa_fp8_mma_l4"}), "row_softmax_l4");
  EXPECT_EQ(nearest_name("sdpa_fp8_w", {"sdpa_fp8_wgmma_h200", "sdpa_fp8_wmma_h200_large"}), "");
}

TEST(NearestName, DoesNotGuess) {
  EXPECT_EQ(nearest_name("--frobnicate", kOptions), "");
  EXPECT_EQ(nearest_name("", kOptions), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("nope", {"small", "mission", "long"}), "");
}

TEST(DidYouMean, IsAddedToAMessage) {
  EXPECT_EQ(did_you_mean("--generation", kOptions), "; did you mean --generations?");
  EXPECT_EQ(did_you_mean("--frobnicate", kOptions), "");
  EXPECT_EQ(unknown_name("shape", "misson", {"small", "mission"}),
            "unknown shape 'misson'; did you mean 'mission'? Allowed: small, mission");
  EXPECT_EQ(unknown_name("shape", "nope", {"small", "mission"}),
            "unknown shape 'nope'; allowed: small, mission");
}

}  // namespace
}  // namespace evo
