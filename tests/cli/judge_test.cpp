// Tests the program evo-judge on a fake device with planted (deliberately defective) kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(EvoJudge, AGreenConfigurationWithAllThatWasFound) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::judge("--set THREADS=128 ITEMS=2 --check-seed 5 --json"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> lines = json_lines(result.out);
  ASSERT_EQ(lines.size(), 1U);
  const json& found = lines[0];
  EXPECT_EQ(found["verdict"], "green");
  EXPECT_EQ(found["space"], "planted_faults");
  EXPECT_EQ(found["device"], "fake:measured");
  EXPECT_EQ(found["config"],
            json::parse(R"({"BUG":"none","THREADS":128,"ITEMS":2,"UNUSED_ALIAS":0})"));
  EXPECT_EQ(found["registers"], 32);
  EXPECT_EQ(found["launch"]["grid"], json::parse("[16, 1, 1]"));
  EXPECT_EQ(found["launch"]["block"], json::parse("[128, 1, 1]"));
  ASSERT_EQ(found["checks"].size(), 15U);  // three shapes, five seeds
  for (const json& check : found["checks"]) {
    EXPECT_EQ(check["max_abs_error"], 0);
    EXPECT_EQ(check["relative_l2"], 0);
  }
  EXPECT_NEAR(found["timing"]["p50_us"].get<double>(), 5.0, 0.02);
  EXPECT_EQ(found["timing"]["kind"], "measured");
  EXPECT_GE(found["timing"]["samples"], 100);
  EXPECT_FALSE(found.contains("rejection"));
}

TEST(EvoJudge, TheSameSeedChecksTheSameInputs) {
  const FakeSession session;
  const auto seeds = [&](const std::string& options) {
    std::vector<std::uint64_t> found;
    const ProgramResult result = session.run(FakeSession::judge("--json " + options));
    const json judged = json::parse(result.out);
    for (const json& check : judged["checks"]) found.push_back(check["seed"]);
    EXPECT_EQ(found.size(), 15U);
    return found;
  };
  EXPECT_EQ(seeds("--check-seed 5"), seeds("--check-seed 5"));
  EXPECT_NE(seeds("--check-seed 5"), seeds("--check-seed 6"));
  EXPECT_NE(seeds(""), seeds(""));
}

TEST(EvoJudge, ARejectionIsExitCodeOneWithGateAndReason) {
  const FakeSession session;
  const ProgramResult result = session.run(FakeSession::judge("--set BUG=leaves_nan"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("REJECTED at the correctness gate"),
                                HasSubstr("1 non-finite element"), HasSubstr("shape single")));
  const json found =
      json::parse(session.run(FakeSession::judge("--json --set BUG=does_not_compile")).out);
  EXPECT_EQ(found["verdict"], "rejected");
  EXPECT_EQ(found["rejection"]["gate"], "build");
  EXPECT_THAT(found["rejection"]["detail"].get<std::string>(), HasSubstr("1 error detected"));
  EXPECT_FALSE(found.contains("registers"));
}

TEST(EvoJudge, AHangIsKilledAndNamed) {
  const FakeSession session;
  const ProgramResult result = session.run(FakeSession::judge("--set BUG=never_returns"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr(std::string("did not finish within ") +
                                          FakeSession::kStepSeconds + " s"),
                                HasSubstr("checking shape single, seed 1")));
}

TEST(EvoJudge, WithoutADeviceItStopsAtThePolicy) {
  const FakeSession session;
  const std::string command =
      "evo-judge --space " + FakeSession::faults_space() + " --device none --json";
  const ProgramResult within = session.run(command);
  EXPECT_EQ(within.exit_code, 0);
  EXPECT_THAT(within.err, HasSubstr("NO DEVICE"));
  EXPECT_EQ(json::parse(within.out)["verdict"], "within policy");
  const ProgramResult over = session.run(command + " --set BUG=too_many_registers");
  EXPECT_EQ(over.exit_code, 1);
  EXPECT_EQ(json::parse(over.out)["rejection"]["policy_only"], true);
}

TEST(EvoJudge, MilestoneAndSettingsCombine) {
  const FakeSession session;
  const json found =
      json::parse(session.run(FakeSession::judge("--milestone clean --set ITEMS=4 --json")).out);
  EXPECT_EQ(found["config"]["THREADS"], 256);
  EXPECT_EQ(found["config"]["ITEMS"], 4);
}

TEST(EvoJudge, AnotherShapeIsTimed) {
  const FakeSession session;
  const json found = json::parse(session.run(FakeSession::judge("--shape ragged --json")).out);
  EXPECT_EQ(found["shape"], "ragged");
  EXPECT_EQ(found["launch"]["grid"], json::parse("[16, 1, 1]"));  // ceil(1003 / 64)
}

TEST(EvoJudge, SavesTheKernel) {
  const FakeSession session;
  ASSERT_EQ(session.run(FakeSession::judge("--save out/deep")).exit_code, 0);
  for (const char* name : {"kernel.ptx", "kernel.cubin", "kernel.cu", "kernel.log"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(session.path("out/deep/") + name)) << name;
  }
}

TEST(EvoJudge, SavesOverNobodysKernel) {
  const FakeSession session;
  const std::string file = session.path("out/kernel.cu");
  std::filesystem::create_directory(session.path("out"));
  write_file(file, "__global__ void mine();\n");
  const ProgramResult refused = session.run(FakeSession::judge("--save out"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("out/kernel.cu: file exists, and evo-judge --save did not"));
  EXPECT_EQ(read_text_file(file), "__global__ void mine();\n");
  std::filesystem::remove(file);
  EXPECT_EQ(session.run(FakeSession::judge("--save out")).exit_code, 0);
  EXPECT_EQ(session.run(FakeSession::judge("--save out")).exit_code, 0)
      << "evo-judge replaces its own files";
}

TEST(EvoJudge, SettingsAndMilestonesThatCannotBeMeantAreRefused) {
  const FakeSession session;
  const auto error = [&](const std::string& arguments) {
    const ProgramResult result = session.run(FakeSession::judge(arguments));
    EXPECT_EQ(result.exit_code, 2) << arguments;
    return result.err;
  };
  EXPECT_THAT(error("--set ITEMS=2 ITEMS=4"), HasSubstr("ITEMS is set twice; set it once"));
  EXPECT_THAT(error("--set ITEMS=2,THREADS=64"),
              HasSubstr("write a space between settings: --set ITEMS=2 THREADS=64"));
  EXPECT_THAT(error("--milestone none"), HasSubstr("--milestone: unknown milestone 'none'"));
}

TEST(EvoJudge, LeavesNoDatabaseBehind) {
  const FakeSession session;
  ASSERT_EQ(session.run(FakeSession::judge("")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(session.folder()));
}

}  // namespace
}  // namespace evo
