// Tests the output of evo-tune, evo-judge and evo-elite about the GPU's state, energy and the
// objective, on a fake device whose driver reports values chosen by the test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

ProgramResult run_on_gpu(const FakeSession& session, const std::string& gpu,
                         const std::string& command) {
  return run_program(command, session.folder(), session.environment() + " EVO_FAKE_GPU=" + gpu);
}

TEST(GpuCli, ARunOnAGpuThatIsSharedAndThrottledSaysSo) {
  const FakeSession session;
  const ProgramResult result =
      run_on_gpu(session, "shared,throttled", FakeSession::tune("--generations 1 --offspring 2"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("THROTTLED: the GPU was throttled throughout the run"));
  EXPECT_THAT(result.out, HasSubstr("SHARED: process 4711 (python3) was on the GPU throughout"));
  const GpuSummary summary = gpu_summary(session.store(), 1);
  EXPECT_GT(summary.timings, 0);
  EXPECT_EQ(summary.throttled, summary.timings);
  EXPECT_GT(summary.discarded, 0);
}

TEST(GpuCli, AQuietGpuIsNotSpokenOf) {
  const FakeSession session;
  const ProgramResult result =
      run_on_gpu(session, "quiet", FakeSession::tune("--generations 1 --offspring 2"));
  EXPECT_THAT(result.out, Not(HasSubstr("THROTTLED")));
  EXPECT_THAT(result.out, Not(HasSubstr("SHARED")));
  EXPECT_GT(gpu_summary(session.store(), 1).timings, 0);
}

TEST(GpuCli, JudgeShowsTheGpuAndTheEnergyOfALaunch) {
  const FakeSession session;
  const ProgramResult result =
      run_on_gpu(session, "counter", FakeSession::judge("--json --energy"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json found = json::parse(result.out);
  EXPECT_EQ(found["gpu"]["sm_clock_median_mhz"], 1980);
  EXPECT_EQ(found["gpu"]["throttled"], false);
  EXPECT_NEAR(found["energy"]["power_w"].get<double>(), 100, 5);
  EXPECT_GE(found["energy"]["window_s"].get<double>(), 1);
  EXPECT_GT(found["energy"]["launch_mj"].get<double>(), 0);
  EXPECT_FALSE(
      json::parse(session.run(FakeSession::judge("--json --energy")).out).contains("energy"));
}

TEST(GpuCli, TheElitesEnergyIsStoredAndShown) {
  const FakeSession session;
  const ProgramResult result = run_on_gpu(
      session, "counter", FakeSession::tune("--generations 1 --offspring 1 --elite 1 --energy"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("  mJ  "));
  const std::vector<EliteRow> elite = elite_of_run(session.store(), 1);
  ASSERT_EQ(elite.size(), 1U);
  ASSERT_TRUE(elite[0].launch_mj.has_value());
  const ProgramResult shown = session.run("evo-elite show " + std::to_string(elite[0].candidate));
  EXPECT_THAT(shown.out, HasSubstr("energy\n  launch_mj = "));
  EXPECT_THAT(shown.out, HasSubstr("GPU while it was timed\n  sm_clock_median_mhz = 1980"));
}

TEST(GpuCli, AnObjectiveThatTheDeviceCannotMeasureIsRefused) {
  const FakeSession session;
  for (const char* objective : {"energy", "\"time*energy^0.5\""}) {
    const ProgramResult result =
        session.run(FakeSession::tune("--generations 1 --objective " + std::string(objective)));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("energy is not supported on fake GPU"));
  }
  const ProgramResult unknown = session.run(FakeSession::tune("--objective speed"));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown name 'speed'; allowed: time, energy (µs and mJ"));
}

TEST(GpuCli, ARunGoesOnWithItsOwnObjective) {
  const FakeSession session;
  const std::string run = FakeSession::tune("--generations 1 --offspring 1 --elite 1 ");
  ASSERT_EQ(session.run(run + "--objective 2*time").exit_code, 0);
  const ProgramResult other = session.run(run + "--resume 1");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("was started with --objective 2*time"));
  const ProgramResult same = session.run(run + "--resume 1 --objective 2*time");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("measured times, objective 2*time\n"));
}

TEST(GpuCli, WithoutADeviceNobodySpeaksOfMeasuredTimes) {
  const FakeSession session;
  const ProgramResult result = session.run("evo-tune --space " + FakeSession::faults_space() +
                                           " --device none --generations 1 --offspring 2 --jobs 1");
  for (const ProgramResult& said :
       {result, session.run("evo-elite rejections"), session.run("evo-elite runs"),
        session.run("evo-elite show 1")}) {
    EXPECT_THAT(said.out, Not(HasSubstr("measured")));
    EXPECT_THAT(said.err, Not(HasSubstr("measured")));
  }
  EXPECT_THAT(result.out, HasSubstr("nothing was run"));
}

}  // namespace
}  // namespace evo
