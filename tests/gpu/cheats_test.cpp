// Tests kernels that cheat (cheats.cu): a gate rejects them, or, if a kernel only varies its speed,
// its reported time is long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "db/queries.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo::cheats_test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

/// The gate that must reject a kernel (empty if the kernel must be green), and regular expressions
/// for the reason on a CUDA GPU and on a virtual GPU.
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
      {"skips_known_pair", {kCorrectness, kTimed + "|after more launches", kAged}},
      {"skips_known_content", {kCorrectness, kTimed, kAged}},
      // The cheats remembers_address and remembers_content reuse results of earlier launches and
      // pass the checks before timing. A device that predicts times accepts these cheats, because
      // they gain nothing there.
      {"remembers_address", {kCorrectness, kTimed, "", true}},
      {"remembers_content", {"timing", "kernel remembers results", "", true}},
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
  [[nodiscard]] ProgramResult run(const std::string& program, const std::string& options) const {
    const std::string space = source_folder() / "tests/planted/search_spaces/cheats.json";
    return run_program(
        program + " --space " + space + " --json --device " + GetParam() + " " + options,
        folder_.path());
  }
  [[nodiscard]] ProgramResult judge(const std::string& cheat) const {
    return run("evo-judge", "--set CHEAT=" + cheat);
  }
  [[nodiscard]] static bool is_virtual() { return GetParam().starts_with("virtual:"); }

  sample::TemporaryFolder folder_;
};

TEST_P(Cheats, AreStoppedWhereTheyWouldPay) {
  for (const auto& [cheat, want] : expectations()) {
    const ProgramResult judged = judge(cheat);
    if (cheat == expectations().begin()->first && judged.exit_code == 3) GTEST_SKIP() << judged.err;
    ASSERT_LE(judged.exit_code, 1) << cheat << ": " << judged.err;
    const json found = json::parse(judged.out);
    const bool green = want.gate.empty() || (is_virtual() && want.green_on_virtual);
    EXPECT_EQ(found["verdict"], green ? "green" : "rejected") << cheat << judged.out;
    if (green || !found.contains("rejection")) continue;
    const std::string reason = found["rejection"]["reason"];
    EXPECT_EQ(found["rejection"]["gate"], want.gate) << cheat << ": " << reason;
    EXPECT_THAT(reason, ContainsRegex(is_virtual() ? want.on_virtual : want.on_gpu)) << cheat;
  }
}

TEST_P(Cheats, WrongOnlyAfter1500LaunchesIsRejected) {
  const ProgramResult judged = judge("stops_after --set LIMIT=1500");
  if (judged.exit_code == 3) GTEST_SKIP() << judged.err;
  ASSERT_EQ(judged.exit_code, 1) << judged.err;
  EXPECT_EQ(json::parse(judged.out)["rejection"]["gate"], "correctness") << judged.out;
}

/// Tests kernels that cheat about their times, which is possible only on a device that measures
/// times.
class MeasuredCheats : public Cheats {};

TEST_P(MeasuredCheats, AKernelThatIsSlowSometimesDoesNotPassAsFast) {
  const ProgramResult honest = judge("honest");
  if (honest.exit_code == 3) GTEST_SKIP() << honest.err;
  const double honest_us = json::parse(honest.out)["timing"]["p50_us"];
  for (const char* cheat : {"slow_when_alone", "slow_at_first", "slow_when_busy", "slow_later",
                            "slow_later --set LIMIT=1500"}) {
    const ProgramResult judged = judge(cheat);
    ASSERT_LE(judged.exit_code, 1) << cheat << judged.out << judged.err;
    const json found = json::parse(judged.out);
    if (found.contains("rejection")) {
      EXPECT_EQ(found["rejection"]["gate"], "timing") << cheat << judged.out;
    } else {
      EXPECT_GT(found["timing"]["p50_us"], 5 * honest_us) << cheat << judged.out;
    }
  }
}

TEST_P(MeasuredCheats, NoneIsInTheElite) {
  // The run has --interpret none, because the virtual GPU would take minutes for the slow kernels.
  const ProgramResult tuned =
      run("evo-tune",
          "--strategy exhaustive --generations 1 --offspring 84 --elite 8 --explain none "
          "--interpret none --seed 1");
  if (tuned.exit_code == 3) GTEST_SKIP() << tuned.err;
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const Store store = Store::open_read_only(folder_.path() / "evo.db");
  const std::vector<EliteRow> elite = elite_of_run(store, 1);
  ASSERT_FALSE(elite.empty());
  EXPECT_THAT(elite.front().config_json, HasSubstr(R"("CHEAT":"honest")"));
  // Kernels that are slow in some launches may be in the elite, because their results are right,
  // but the elite must state their long times.
  for (const EliteRow& row : elite) {
    EXPECT_THAT(row.config_json, ContainsRegex("honest|slow_when_busy|slow_later|slow_at_first"));
    const bool is_honest = row.config_json.find("honest") != std::string::npos;
    EXPECT_EQ(row.p50_us < 5 * elite.front().p50_us, is_honest) << row.config_json;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& device) {
  std::string name = device.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Gpu, Cheats, testing::Values("cuda:0"), test_name);
INSTANTIATE_TEST_SUITE_P(Gpu, MeasuredCheats, testing::Values("cuda:0"), test_name);
INSTANTIATE_TEST_SUITE_P(Virtual, Cheats, testing::Values("virtual:l4"), test_name);

}  // namespace
}  // namespace evo::cheats_test
