// Numbers on the command line: what cannot be meant is refused, naming option, value and what is
// allowed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct NumberOption {
  std::string program;
  std::string option;
  bool zero = false;   ///< 0 is allowed
  bool real = false;   ///< a fraction is allowed
  bool any64 = false;  ///< every 64-bit number is allowed
};

std::vector<NumberOption> number_options() {
  return {{"evo-tune", "--generations"},
          {"evo-tune", "--children"},
          {"evo-tune", "--elite"},
          {"evo-tune", "--seed", true, false, true},
          {"evo-tune", "--check-seed", true, false, true},
          {"evo-tune", "--max-seconds", false, true},
          {"evo-tune", "--resume"},
          {"evo-tune", "--time-policy-rejects", true},
          {"evo-tune", "--jobs"},
          {"evo-tune", "--step-seconds", false, true},
          {"evo-judge", "--jobs"},
          {"evo-judge", "--step-seconds", false, true},
          {"evo-judge", "--check-seed", true, false, true},
          {"evo-elite", "--run"},
          {"evo-elite", "show"},
          {"evo-elite", "compare 1"},
          {"evo-report --out r.html", "--run"},
          {"evo-export --out out", "--run"},
          {"evo-export --out out", "--rank"},
          {"evo-export --out out", "--candidate"},
          {"evo-record --out r.json", "--count"},
          {"evo-record --out r.json --count 1", "--control-every"},
          {"evo-record --out r.json --count 1", "--window"},
          {"evo-record --out r.json --count 1", "--seed", true, false, true},
          {"evo-record --out r.json --count 1", "--max-seconds", false, true},
          {"evo-record --out r.json", "--resume"},
          {"evo-replay --recorded none.json", "--repeats"},
          {"evo-replay --recorded none.json", "--budget"},
          {"evo-replay --recorded none.json", "--window"},
          {"evo-replay --recorded none.json", "--seed", true, false, true},
          {"evo-replay --recorded none.json", "--jobs"}};
}

TEST(NumberOptions, OutOfRangeOrNoNumberIsBadUsageThatSaysWhatIsAllowed) {
  const FakeSession session;
  for (const NumberOption& option : number_options()) {
    std::vector<std::string> bad = {"x",  "nan",  "inf",   "-1",
                                    "1x", "0x10", "1e400", "99999999999999999999999"};
    if (!option.zero) bad.emplace_back("0");
    if (!option.real) bad.insert(bad.end(), {"1e3", "1.5"});
    if (!option.any64) bad.emplace_back("18446744073709551615");
    for (const std::string& value : bad) {
      const std::string command = option.program + " " + option.option + " " + value;
      const ProgramResult result = session.run(command);
      EXPECT_EQ(result.exit_code, 2) << command << "\n" << result.err;
      EXPECT_EQ(result.out, "") << command;
      EXPECT_THAT(result.err,
                  AllOf(HasSubstr("'" + value + "'"), HasSubstr("allowed is a"),
                        HasSubstr(option.option.starts_with("--") ? option.option : "ID")))
          << command;
    }
  }
}

TEST(NumberOptions, AreDecimal) {
  const FakeSession session;
  const ProgramResult result = session.run(
      FakeSession::tune("--generations 01 --children 010 --seed 18446744073709551615 --quiet"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const StoredRun run = session.store().run(1);
  EXPECT_EQ(run.info.children, 10);
  EXPECT_EQ(run.info.seed, 18446744073709551615U);
}

TEST(NumberOptions, TheLastOfTwoHolds) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::tune("--generations 1 --children 9 --children 4 --quiet"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(session.store().run(1).info.children, 4);
}

}  // namespace
}  // namespace evo
