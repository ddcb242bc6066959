// Kernels that cheat: each is rejected at the gate where its cheat would succeed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::ContainsRegex;

/// The gate and the expected reason; an empty gate: green.
struct Expected {
  std::string gate;
  std::string on_gpu;
  std::string on_virtual;
  bool green_on_virtual = false;
};

const std::map<std::string, Expected>& expectations() {
  static const std::string kCorrectness = "correctness";
  static const std::string kTimed = "timed launches, shape mission";
  static const std::string kUninitialised = "uninitialised data";
  static const std::string kAged = "never written|uninitialised data";
  static const std::map<std::string, Expected> expected = {
      {"honest", {"", "", "", true}},
      {"folds_min", {kCorrectness, "shape", kUninitialised}},
      {"folds_max", {kCorrectness, "shape", kUninitialised}},
      {"folds_sum", {kCorrectness, "shape", kUninitialised}},
      {"folds_atomic", {kCorrectness, "shape", kUninitialised}},
      {"only_over_poison", {kCorrectness, "shape", kUninitialised}},
      {"only_over_nan", {kCorrectness, "shape", kUninitialised}},
      {"skips_known_address", {kCorrectness, kTimed, kAged}},
      {"skips_known_pair", {kCorrectness, kTimed, kAged}},
      {"skips_known_content", {kCorrectness, kTimed, kAged}},
      // These two pass the checks before timing; on a device that predicts, they gain nothing.
      {"remembers_address", {kCorrectness, kTimed, "", true}},
      {"remembers_content", {"timing", "it remembers results", "", true}},
      {"stops_after", {kCorrectness, "shape mission", kAged}},
      {"every_second_launch", {kCorrectness, "shape", kAged}},
      {"stops_in_the_workspace", {kCorrectness, "shape", kAged}},
      {"skips_when_busy", {kCorrectness, "shape", "shape"}},
      {"key_in_the_workspace", {kCorrectness, "shape", "race between CTAs"}},
      {"half_of_the_ctas", {kCorrectness, "shape ragged", "never written"}},
      {"not_when_large", {kCorrectness, "shape mission", "never written"}},
      {"writes_outside_later", {kCorrectness, "wrote outside buffer 'y'", "out-of-bounds"}},
      {"changes_inputs_later", {kCorrectness, "changed its input|timed launches", "read-only"}},
      {"copies_what_it_finds", {kCorrectness, "shape", "out-of-bounds"}},
      {"knows_its_sm", {kCorrectness, "shape", "shape"}},
      {"knows_its_warp_slot", {kCorrectness, "shape", "shape"}}};
  return expected;
}

class Cheats : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] ProgramResult judge(const std::string& cheat) const {
    const std::string space = source_folder() / "tests/planted/search_spaces/cheats.json";
    return run_program(
        "evo-judge --space " + space + " --json --device " + GetParam() + " --set CHEAT=" + cheat,
        folder_.path());
  }

  sample::TemporaryFolder folder_;
};

TEST_P(Cheats, AreStoppedWhereTheyWouldPay) {
  const bool is_virtual = GetParam().starts_with("virtual:");
  for (const auto& [cheat, want] : expectations()) {
    const ProgramResult judged = judge(cheat);
    if (cheat == expectations().begin()->first && judged.exit_code == 3) GTEST_SKIP() << judged.err;
    ASSERT_LE(judged.exit_code, 1) << cheat << ": " << judged.err;
    const json found = json::parse(judged.out);
    const bool green = want.gate.empty() || (is_virtual && want.green_on_virtual);
    EXPECT_EQ(found["verdict"], green ? "green" : "rejected") << cheat << judged.out;
    if (green || !found.contains("rejection")) continue;
    const std::string reason = found["rejection"]["reason"];
    EXPECT_EQ(found["rejection"]["gate"], want.gate) << cheat << ": " << reason;
    EXPECT_THAT(reason, ContainsRegex(is_virtual ? want.on_virtual : want.on_gpu)) << cheat;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& device) {
  std::string name = device.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Gpu, Cheats, testing::Values("cuda:0"), test_name);
INSTANTIATE_TEST_SUITE_P(Virtual, Cheats, testing::Values("virtual:l4"), test_name);

}  // namespace
}  // namespace evo
