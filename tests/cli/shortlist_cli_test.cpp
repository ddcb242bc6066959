// evo-tune --shortlist on a fake card beside fake virtual GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

std::vector<std::string> outcomes(const Store& store) {
  std::vector<std::string> lines;
  for (const StoredEvaluation& stored : store.evaluations(1)) {
    const EvaluationRecord& record = stored.record;
    lines.push_back(record.config_json + " " + record.origin + " " +
                    (record.timing ? "timed" : "") + (record.rejection ? "rejected" : ""));
  }
  return lines;
}

constexpr const char* kOptions = "--generations 3 --children 4 --seed 7 --no-warm-start ";

TEST(ShortlistCli, PredictsManyAndMeasuresAFew) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::tune(std::string(kOptions) + "--shortlist 4"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(" predicted · "));
  const std::vector<std::string> lines = outcomes(session.store());
  EXPECT_TRUE(std::ranges::any_of(
      lines, [](const std::string& line) { return line.ends_with("shortlist timed"); }));
  for (const StoredEvaluation& stored : session.store().evaluations(1)) {
    if (!stored.record.timing) continue;
    EXPECT_EQ(stored.record.timing->kind, TimeKind::kMeasured);
  }
}

TEST(ShortlistCli, AResumedRunKeepsItAndEndsAsOneThatWasNotInterrupted) {
  const FakeSession session;
  const std::string longer = "--generations 4 --children 4 --seed 7 --no-warm-start ";
  ASSERT_EQ(session.run(FakeSession::tune(std::string(kOptions) + "--shortlist 4")).exit_code, 0);
  EXPECT_EQ(session.run(FakeSession::tune("--resume 1 --shortlist 2")).exit_code, 2);
  const ProgramResult without = session.run(FakeSession::tune("--resume 1"));
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("give --shortlist 4"));
  const ProgramResult resumed =
      session.run(FakeSession::tune("--resume 1 --generations 4 --shortlist 4"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const FakeSession other;
  ASSERT_EQ(other.run(FakeSession::tune(longer + "--shortlist 4")).exit_code, 0);
  EXPECT_EQ(outcomes(session.store()), outcomes(other.store()));
}

TEST(ShortlistCli, NeedsACard) {
  const FakeSession session;
  const ProgramResult result = session.run("evo-tune --space " + FakeSession::faults_space() +
                                           " --device fake:predicted --shortlist 4");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--shortlist: needs a device that measures"));
}

}  // namespace
}  // namespace evo
