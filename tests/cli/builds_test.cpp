// Tests evo-tune for shapes that are compiled with different macros: one command makes a search for
// each build, and one bundle holds the winners of all. The device is fake.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <functional>

#include "db/queries.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTwoGenerations = "--generations 2 --offspring 4 --seed 7 --explain none ";

class EvoTuneBuilds : public testing::Test {
 protected:
  ProgramResult tune(const std::string& more) const {
    return session_.run(FakeSession::tune(all_ + more));
  }
  /// Starts the command and sends `signal` to it once it has reported `evaluations` evaluations.
  int stop_after(int evaluations, int signal) const {
    RunningProgram program(FakeSession::tune(all_ + kTwoGenerations + "--json"), session_.folder(),
                           session_.environment() + " EVO_FAKE_COMPILE_MS=50");
    return stop_after_evaluations(program, evaluations, signal);
  }
  /// Changes a file of the problem or the space.
  void change(const std::string& name, const std::function<void(json&)>& edit) const {
    const std::string file = session_.path("two_builds/" + name);
    json content = json::parse(std::ifstream(file));
    edit(content);
    std::ofstream(file) << content.dump();
  }
  /// The status of each run: "mission finished".
  std::vector<std::string> statuses() const {
    std::vector<std::string> texts;
    for (const StoredRun& run : session_.store().runs()) {
      texts.push_back(run.info.shape + " " + std::string(to_string(run.status)));
    }
    return texts;
  }

  FakeSession session_;
  std::string all_ = session_.all_of_two_builds();
};

TEST_F(EvoTuneBuilds, OneCommandMakesASearchForEach) {
  const ProgramResult result = tune(std::string(kTwoGenerations) + "--db 'all.db'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("search 1 of 2: shapes mission, ragged (IS_TINY=0)"),
                                HasSubstr("search 1/2 · generation 2/2 · "),
                                HasSubstr("search 2 of 2: shape single (IS_TINY=1)"),
                                HasSubstr("search 2/2 · generation 2/2 · ")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("elite of run 2"), HasSubstr("elite of run 3"),
                                HasSubstr("evo-export --db all.db --bundle DIR")));
  const Store store = session_.store("all.db");
  ASSERT_EQ(store.runs().size(), 3U);
  EXPECT_EQ(store.runs_beside(1), (std::vector<RunId>{1, 2}));
  EXPECT_EQ(store.runs_beside(3), std::vector<RunId>{3});
  const auto group = [&](RunId run) {
    return json::parse(store.run(run).info.options_json).at("group");
  };
  EXPECT_EQ(group(1), group(3));
}

TEST_F(EvoTuneBuilds, OneBundleHasAKernelOfTheRightBuildForEachShape) {
  ASSERT_EQ(tune(kTwoGenerations).exit_code, 0);
  const ProgramResult exported = session_.run("evo-export --bundle winners");
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const json index = json::parse(std::ifstream(session_.path("winners/bundle.json")));
  std::map<std::string, int> macros;
  for (const json& served : index["targets"][0]["serves"]) {
    for (const json& kernel : index["kernels"]) {
      if (kernel["name"] != served["kernel"]) continue;
      macros[served["shape"]] = kernel["macros"]["IS_TINY"];
    }
  }
  EXPECT_EQ(macros, (std::map<std::string, int>{{"mission", 0}, {"ragged", 0}, {"single", 1}}));
}

TEST_F(EvoTuneBuilds, TheHintForTheBundleNamesTheRunsIfThereAreOthers) {
  ASSERT_EQ(tune(std::string(kTwoGenerations) + "--shape mission").exit_code, 0);
  EXPECT_THAT(tune(std::string(kTwoGenerations) + "--shape single,mission").out,
              HasSubstr("evo-export --db evo.db --run 2 --run 3 --bundle DIR"));
}

TEST_F(EvoTuneBuilds, ThereAreMoreChildrenForMoreShapes) {
  ASSERT_EQ(tune("--generations 1 --explain none").exit_code, 0);
  EXPECT_EQ(session_.store().run(1).info.offspring, 9);
  EXPECT_EQ(session_.store().run(3).info.offspring, 8);
}

TEST_F(EvoTuneBuilds, JsonEventsSayWhichSearchTheyAreAbout) {
  const ProgramResult result = tune(std::string(kTwoGenerations) + "--json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> texts;
  std::map<std::string, int> finished;
  for (const json& event : json_lines(result.out)) {
    EXPECT_EQ(event.at("searches"), 2) << event;
    if (event["event"] == "finished") ++finished[event.at("search").dump()];
    if (event["event"] == "notice") texts.push_back(event["text"]);
  }
  EXPECT_EQ(finished, (std::map<std::string, int>{{"1", 2}, {"2", 1}}));
  EXPECT_THAT(texts, testing::Contains("search 2 of 2: shape single (IS_TINY=1)"));
  EXPECT_THAT(tune(std::string(kTwoGenerations) + "--json --shape mission,ragged").out,
              Not(HasSubstr("\"searches\"")));
}

TEST_F(EvoTuneBuilds, ABuildWithoutAGreenKernelIsExitCodeOneAndTheOthersAreTuned) {
  change("kernel_templates/planted/problem.json",
         [](json& problem) { problem["macros"]["REGISTERS"] = "N < 10 ? 400 : 0"; });
  change("search_spaces/wide.json",
         [](json& space) { space["resources"]["registers_per_thread"] = 128; });
  const ProgramResult result = tune(std::string(kTwoGenerations) + "--shape single,mission");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("rejections of run 1"), HasSubstr("elite of run 2")));
  EXPECT_EQ(session_.run("evo-export --bundle winners").exit_code, 0);
}

TEST_F(EvoTuneBuilds, NothingStartsIfABuildHasNoConfiguration) {
  change("search_spaces/wide.json", [](json& space) {
    space["constraints"].push_back({{"expression", "N > 10"}, {"why", "too small"}});
  });
  const ProgramResult result = tune(kTwoGenerations);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--shape single: "), HasSubstr("too small")));
  EXPECT_TRUE(session_.store().runs().empty());
}

TEST_F(EvoTuneBuilds, AreCompiledWithoutADeviceToo) {
  const ProgramResult result = tune(std::string(kTwoGenerations) + "--device none");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(session_.store().runs().size(), 3U);
}

TEST_F(EvoTuneBuilds, AnInterruptedCommandContinuesWithTheLaterSearches) {
  EXPECT_EQ(stop_after(3, SIGINT), 130);
  EXPECT_THAT(statuses(), ElementsAre("mission interrupted", "ragged interrupted"));
  const ProgramResult resumed = tune("--resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming run 1"));
  EXPECT_THAT(statuses(), ElementsAre("mission finished", "ragged finished", "single finished"));
  const StoredRun later = session_.store().run(3);
  EXPECT_EQ(later.info.seed, 7U) << "the later searches take the options of the command";
  EXPECT_EQ(later.info.offspring, 4);
  EXPECT_EQ(later.last_generation, 1);
}

TEST_F(EvoTuneBuilds, AFinishedSearchIsNotMadeAgain) {
  const FakeSession undisturbed;
  const std::string all = undisturbed.all_of_two_builds();
  ASSERT_EQ(undisturbed.run(FakeSession::tune(all + kTwoGenerations)).exit_code, 0);
  const auto evaluated = static_cast<int>(undisturbed.store().run(1).evaluated);
  EXPECT_EQ(stop_after(evaluated + 2, SIGKILL), 128 + SIGKILL);
  EXPECT_THAT(statuses(), ElementsAre("mission finished", "ragged finished", "single running"));
  const ProgramResult resumed = tune("--resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("search 1 of 2: shapes mission, ragged (IS_TINY=0), "
                                           "finished before in runs 1, 2"),
                                 HasSubstr("resuming run 3")));
  EXPECT_THAT(resumed.out, HasSubstr("evo-export --db evo.db --bundle DIR"));
  for (const RunId run : {1, 2, 3}) {
    EXPECT_EQ(session_.store().run(run).evaluated, undisturbed.store().run(run).evaluated);
  }
  const ProgramResult again = tune("--resume");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("no unfinished searches for these shapes"));
}

TEST_F(EvoTuneBuilds, ACommandOverOtherShapesIsNotContinued) {
  EXPECT_EQ(stop_after(3, SIGINT), 130);
  EXPECT_THAT(
      tune("--shape single,mission --resume").err,
      AllOf(HasSubstr("no unfinished searches"), HasSubstr("run 2, which is not finished")));
  EXPECT_THAT(tune("--resume --seed 8").err, HasSubstr("can only be continued with its own value"));
  EXPECT_EQ(tune("--shape mission,ragged --resume").exit_code, 0) << "the first search alone";
}

TEST_F(EvoTuneBuilds, ANamedRunIsContinuedAlone) {
  ASSERT_EQ(tune(kTwoGenerations).exit_code, 0);
  const ProgramResult more = tune("--resume 3 --generations 3");
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, Not(HasSubstr("search 1")));
  const Store store = session_.store();
  EXPECT_EQ(store.runs().size(), 3U);
  EXPECT_EQ(store.run(1).last_generation, 1);
  EXPECT_EQ(store.run(3).last_generation, 2);
}

TEST_F(EvoTuneBuilds, TheTimeIsSharedAmongTheSearches) {
  constexpr double kSeconds = 3;
  const ProgramResult result = run_program(
      FakeSession::tune(all_ + "--generations 10000 --explain none --json --max-seconds " +
                        std::to_string(kSeconds)),
      session_.folder(), session_.environment() + " EVO_FAKE_COMPILE_MS=20");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<int, double> seconds;
  for (const json& event : json_lines(result.out)) {
    if (event["event"] != "finished") continue;
    seconds[event["search"]] = event["elapsed_s"];
    EXPECT_EQ(event["status"], "interrupted") << "the run was out of time";
  }
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_LT(seconds[1], kSeconds * 0.8);
  EXPECT_LT(seconds[1] + seconds[2], kSeconds * 1.3);
}

TEST_F(EvoTuneBuilds, ASearchWithoutTimeIsLeftForResume) {
  const ProgramResult short_of_time = tune(std::string(kTwoGenerations) + "--max-seconds 0.001");
  EXPECT_EQ(short_of_time.exit_code, 1);
  EXPECT_THAT(short_of_time.err, HasSubstr("this search was not started"));
  EXPECT_EQ(session_.store().runs().size(), 2U);
  (void)tune("--resume");
  EXPECT_FALSE(elite_of_run(session_.store(), 3).empty());
}

TEST_F(EvoTuneBuilds, OtherProgramsNameWhatDiffers) {
  const std::string options = all_ + "--shape mission,single --device fake:measured";
  for (const std::string program : {"evo-judge ", "evo-record --count 3 --out recorded "}) {
    const ProgramResult result = session_.run(program + options);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("'mission' and 'single'"), HasSubstr("(IS_TINY=0 and IS_TINY=1)"),
                      HasSubstr("evo-tune accepts both")));
  }
}

}  // namespace
}  // namespace evo
