#include "engine/evolve/program_strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/core/error.hpp"
#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

/// The command of a strategy written in Python. The statements in `body` compute the program's
/// answer from the variables "line" (the request) and "space" (the first line that the program
/// reads).
std::string python(const std::string& body) {
  return "python3 -c '\nimport json, sys, itertools\nspace = json.loads(sys.stdin.readline())\n"
         "macros = [p[\"macro\"] for p in space[\"parameters\"]]\n"
         "every = itertools.product(*[p[\"values\"] for p in space[\"parameters\"]])\n"
         "def say(configs):\n"
         "    print(json.dumps(dict(proposals=configs)), flush=True)\n"
         "def take(n):\n"
         "    return [dict(zip(macros, c)) for c in itertools.islice(every, n)]\n"
         "for text in sys.stdin:\n    line = json.loads(text)\n" +
         body + "'";
}

std::string error_of(const std::string& command, milliseconds limit = milliseconds(20000)) {
  const RecordedSpace space = bumpy_space();
  ProgramStrategy strategy(space, {}, command, limit);
  try {
    (void)strategy.propose(4);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProgramStrategy, ProposesWhatTheProgramSaysUntilTheSpaceIsExhausted) {
  const RecordedSpace space = bumpy_space();
  ProgramStrategy strategy(space, {.seed = 7},
                           python("    if \"propose\" in line: say(take(line[\"propose\"]))\n"));
  std::set<Candidate> all;
  while (true) {
    const std::vector<Candidate> proposals = strategy.propose(50);
    std::vector<Observation> observations;
    for (const Candidate& candidate : proposals) {
      EXPECT_TRUE(space.is_valid(candidate));
      EXPECT_TRUE(all.insert(candidate).second);
      observations.push_back({candidate, 1.5});
    }
    if (proposals.empty()) break;
    strategy.observe(observations);
  }
  EXPECT_EQ(all.size(), space.rank_count());
}

TEST(ProgramStrategy, OutcomesReachTheProgram) {
  const RecordedSpace space = bumpy_space();
  const Candidate first = space.at_rank(0).value();
  const Candidate second = space.at_rank(1).value();
  // The program proposes a configuration only after it has received both observed outcomes.
  ProgramStrategy strategy(
      space, {},
      python("    if \"observe\" in line: told = line[\"observe\"]\n"
             "    else: say(take(1) if [o.get(\"time_us\") for o in told] == [2.5, None]\n"
             "              and told[1][\"failed_at\"] == \"build\" else [])\n"));
  strategy.observe(std::vector<Observation>{{first, 2.5}, {second, {}, Gate::kBuild}});
  std::size_t proposed = 0;
  for (int i = 0; i < 5; ++i) proposed += strategy.propose(1).size();
  EXPECT_GT(proposed, 0U);
}

TEST(ProgramStrategy, ARepetitionIsRefusedAndTheProgramAskedAgain) {
  const RecordedSpace space = bumpy_space();
  ProgramStrategy strategy(
      space, {},
      python("    same = [dict(zip(macros, [p[\"values\"][0] for p in space[\"parameters\"]]))]\n"
             "    say(take(line[\"propose\"]) if \"refused\" in line else same)\n"));
  EXPECT_EQ(strategy.propose(1).size(), 1U);
  EXPECT_EQ(strategy.propose(3).size(), 3U)
      << "after its repeated proposal was refused, the program gives a new answer";
}

TEST(ProgramStrategy, NonsenseIsAnErrorThatNamesTheCommand) {
  EXPECT_THAT(error_of("echo hello"), AllOf(HasSubstr("--strategy 'program: echo hello'"),
                                            HasSubstr("the program answered hello; allowed:")));
  EXPECT_THAT(error_of(python("    say([1])\n")), HasSubstr("allowed: an object"));
  EXPECT_THAT(error_of(python("    say([{}])\n")), HasSubstr("lacks macro"));
  EXPECT_THAT(error_of(python("    c = take(1)[0]; c[macros[0]] = \"no\"; say([c])\n")),
              HasSubstr("\"no\" is not in the space"));
  EXPECT_THAT(error_of(python("    c = take(1)[0]; c[\"MORE\"] = 1; say([c])\n")),
              HasSubstr("a macro that the space does not have"));
  EXPECT_THAT(error_of(python("    say(take(5))\n")), HasSubstr("asked for 4"));
  EXPECT_THAT(error_of(python("    say([dict(zip(macros, [p[\"values\"][0] for p in "
                              "space[\"parameters\"]]))])\n")),
              HasSubstr("no new and valid configuration in 100 answers"));
}

TEST(ProgramStrategy, ADeathIsAnError) {
  EXPECT_THAT(error_of("exit 3"), HasSubstr("the program ended with exit code 3"));
  EXPECT_THAT(error_of("kill -9 $$"), HasSubstr("killed by signal 9"));
  EXPECT_THAT(error_of("/no/such/program"), HasSubstr("exit code 127"));
}

TEST(ProgramStrategy, AHangIsAnErrorAndTheProgramIsKilled) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of("sleep 1000", milliseconds(100)), HasSubstr("the program does not answer"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(ProgramStrategy, ACommandIsRequired) {
  const RecordedSpace space = bumpy_space();
  EXPECT_THROW((void)make_strategy("program: ", space, {}), InputError);
  EXPECT_TRUE(strategy_learns("program: x"));
}

}  // namespace
}  // namespace evo
