// Tests evo-tune --interpret, which executes the elite of a GPU also on a virtual GPU. The GPU and
// the virtual GPU are devices of the fake worker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string lucky(const std::string& more) {
  return "evo-tune --device fake:measured --jobs 2 --generations 3 --space " +
         (source_folder() / "tests/planted/search_spaces/lucky.json").string() + " " + more;
}

std::string configurations(const Store& store) {
  std::string text;
  for (const EliteRow& row : elite_of_run(store, 1)) text += row.config_json + "\n";
  return text;
}

TEST(Interpret, AKernelThatTheGpuPassedByLuckLeavesTheElite) {
  const FakeSession session;
  const ProgramResult run = session.run(lucky("--elite 9"));
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("is withdrawn: on fake:predicted shape single"));
  EXPECT_THAT(run.err, HasSubstr("planted: reads_beyond"));
  EXPECT_THAT(run.err, HasSubstr("planted: races"));
  EXPECT_THAT(run.out, HasSubstr("executed on fake:predicted as well: 3 kernels on "));
  EXPECT_THAT(run.out, HasSubstr("no race, no stray or uninitialised access; 6 withdrawn"));
  const Store store = session.store();
  EXPECT_EQ(elite_of_run(store, 1).size(), 3U);
  EXPECT_THAT(configurations(store), Not(HasSubstr("reads_beyond")));
  EXPECT_THAT(configurations(store), Not(HasSubstr("races")));
  EXPECT_EQ(store.withdrawals(1).size(), 6U);
  for (const WithdrawalRecord& withdrawal : store.withdrawals(1)) {
    EXPECT_EQ(withdrawal.why.gate, Gate::kCorrectness);
    EXPECT_THAT(withdrawal.why.reason, HasSubstr("executed on fake:predicted: shape single"));
  }
}

TEST(Interpret, NoneLeavesTheEliteAsTheGpuJudgedIt) {
  const FakeSession session;
  const ProgramResult run = session.run(lucky("--elite 9 --interpret none"));
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("fake:predicted")));
  EXPECT_THAT(configurations(session.store()), HasSubstr("reads_beyond"));
}

TEST(Interpret, JsonTellsEachKernel) {
  const FakeSession session;
  const ProgramResult run = session.run(lucky("--elite 9 --json"));
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  int passed = 0;
  int rejected = 0;
  for (const json& line : json_lines(run.out)) {
    if (line.at("event") != "interpreted") continue;
    EXPECT_EQ(line.at("device"), "fake:predicted");
    EXPECT_EQ(line.at("left_out"), "");
    ++(line.at("passed").get<bool>() ? passed : rejected);
  }
  EXPECT_EQ(passed, 3);
  EXPECT_EQ(rejected, 6);
}

TEST(Interpret, ANameThatIsNoVirtualGpuIsRefused) {
  const FakeSession session;
  const ProgramResult run = session.run(lucky("--interpret fake:measured"));
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("--interpret: unknown virtual GPU 'fake:measured'; allowed: auto"));
}

}  // namespace
}  // namespace evo
