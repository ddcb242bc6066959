// Tests the program evo-elite on databases that the tests fill with made-up runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "db/store.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

class EvoElite : public testing::Test {
 protected:
  ProgramResult elite(const std::string& arguments) const {
    return run_program("evo-elite " + arguments, folder_.path());
  }

  CandidateId add(RunId run, int position, const std::string& kernel, double p50_us,
                  const std::string& milestone = {}) {
    EvaluationRecord record =
        sample::green(0, position, store_.put_compilation(sample::compilation(kernel)), p50_us,
                      store_.run(run).info.device.time_kind);
    record.milestone = milestone;
    return store_.record_evaluation(run, record);
  }

  sample::TemporaryFolder folder_;
  Store store_ = Store::open(folder_.path() / "evo.db");
  RunId run_ = store_.start_run(sample::run_info());
};

TEST_F(EvoElite, AMissingDatabaseIsNamedAndNotCreated) {
  const ProgramResult result = elite("--db none.db");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("none.db"), HasSubstr("no such file")));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "none.db"));
}

TEST_F(EvoElite, BadUsageIsExitCodeTwo) {
  for (const char* arguments : {"--frobnicate", "--run x", "show", "compare 1", "--json --csv",
                                "show 12345", "--run 99", "milestones --run 99", "nonsense"}) {
    const ProgramResult result = elite(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err, "") << arguments;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

TEST_F(EvoElite, HelpFitsOneScreenAndShowsDefaults) {
  const ProgramResult result = elite("--help");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(lines(result.out).size(), 32U);
  EXPECT_THAT(result.out, HasSubstr("--db DATABASE           database file (default: evo.db)"));
}

TEST_F(EvoElite, NothingGreenIsExitCodeOne) {
  store_.record_evaluation(run_, sample::rejected(0, 0, {.gate = Gate::kBuild, .reason = "no"}));
  for (const char* arguments : {"", "--json", "--csv", "--run 1", "--device H200"}) {
    const ProgramResult result = elite(arguments);
    EXPECT_EQ(result.exit_code, 1) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_THAT(result.err, HasSubstr("no kernel is green")) << arguments;
  }
}

TEST_F(EvoElite, TheTableIsAlignedAndNamesWhatDiffers) {
  add(run_, 0, "a", 101.5);
  add(run_, 1, "b", 9.25);
  const ProgramResult result = elite("");
  EXPECT_EQ(result.exit_code, 0);
  const std::vector<std::string> text = lines(result.out);
  ASSERT_EQ(text.size(), 6U);
  EXPECT_THAT(text[5], HasSubstr("the run has not compared kernels with each other"));
  EXPECT_THAT(text[0], AllOf(HasSubstr("run 1 (running): copy_h200 on NVIDIA H200, shape mission"),
                             HasSubstr("measured times")));
  EXPECT_THAT(text[2], HasSubstr("TILE=1"));
  EXPECT_THAT(text[2], Not(HasSubstr("SWIZZLE")));
  EXPECT_EQ(text[4], "in common: SWIZZLE=xor");
  // evo-elite aligns times to the right, so their decimal points are in one column.
  EXPECT_EQ(text[2].find("9.25") + 1, text[3].find("101.50") + 3);
}

TEST_F(EvoElite, PredictedTimesAreMarkedInHeadingAndRows) {
  const RunId predicted = store_.start_run(sample::run_info(TimeKind::kPredicted));
  add(run_, 0, "a", 10);
  add(predicted, 0, "a", 5);
  const ProgramResult both = elite("");
  EXPECT_THAT(both.out, AllOf(HasSubstr("run 1"), HasSubstr("run 2")));
  const std::vector<std::string> text = lines(elite("--device virtual").out);
  ASSERT_GE(text.size(), 3U);
  EXPECT_THAT(text[0], HasSubstr("PREDICTED"));
  EXPECT_THAT(text[1], HasSubstr("p50 us predicted"));
  EXPECT_THAT(text[2], HasSubstr("predicted"));
}

TEST_F(EvoElite, JsonIsOneObjectALineAndNothingElse) {
  add(run_, 0, "a", 10);
  add(run_, 1, "b", 9);
  const ProgramResult result = elite("--json");
  EXPECT_EQ(result.err, "");
  const std::vector<std::string> text = lines(result.out);
  ASSERT_EQ(text.size(), 2U);
  const json best = json::parse(text[0]);
  EXPECT_EQ(best["rank"], 1);
  EXPECT_EQ(best["p50_us"], 9.0);
  EXPECT_EQ(best["kind"], "measured");
  EXPECT_EQ(best["config"]["TILE"], 1);
  EXPECT_EQ(best["device"], "NVIDIA H200");
  EXPECT_EQ(best["shared_bytes"], 5120);
  EXPECT_FALSE(best.contains(""));
}

TEST_F(EvoElite, CsvHasOneHeadingAndQuotesConfigurations) {
  add(run_, 0, "a", 10);
  const std::vector<std::string> text = lines(elite("--csv").out);
  ASSERT_EQ(text.size(), 2U);
  EXPECT_EQ(text[0],
            "rank,run,space,device,shape,p50_us,p90_us,tflops,launch_mj,registers,shared_bytes,"
            "max_abs_error,kind,candidate,tied_with,config\r");
  EXPECT_EQ(text[1],
            "1,1,copy_h200,NVIDIA H200,mission,10.0,11.0,200.0,,96,5120,0.002,measured,1,,"
            "\"{\"\"SWIZZLE\"\":\"\"xor\"\",\"\"TILE\"\":0}\"\r");
}

TEST_F(EvoElite, TheMilestoneTableShowsFailuresAndRatios) {
  add(run_, 0, "a", 100, "baseline");
  EvaluationRecord failed =
      sample::rejected(0, 1, {.gate = Gate::kCorrectness, .reason = "relative L2 0.3 > 0.002"});
  failed.milestone = "fused";
  store_.record_evaluation(run_, failed);
  add(run_, 2, "b", 50, "wmma");
  const std::string text = elite("milestones").out;
  EXPECT_THAT(text, AllOf(HasSubstr("baseline"), HasSubstr("failed correctness"),
                          HasSubstr("relative L2 0.3 > 0.002"), HasSubstr("2.000")));
  const std::vector<std::string> rows = lines(elite("milestones --json --run 1").out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(json::parse(rows[1])["p50_us"].is_null());
  EXPECT_EQ(json::parse(rows[2])["speedup"], 2.0);
}

TEST_F(EvoElite, AMilestoneTableSaysWhereMilestonesStopBuildingOnOneAnother) {
  const auto add_milestone = [&](int position, const std::string& config) {
    EvaluationRecord record = sample::green(
        0, position,
        store_.put_compilation(sample::compilation("step " + std::to_string(position))),
        20 - position);
    record.config_json = config;
    record.milestone = "step " + std::to_string(position);
    store_.record_evaluation(run_, record);
  };
  add_milestone(0, R"({"TILE":1,"WAY":"up"})");
  add_milestone(1, R"({"TILE":2,"WAY":"up"})");
  add_milestone(2, R"({"TILE":4,"WAY":"down"})");
  EXPECT_THAT(elite("milestones").out, Not(HasSubstr("are separate configurations")));
  add_milestone(3, R"({"TILE":1,"WAY":"down"})");
  EXPECT_THAT(
      elite("milestones").out,
      HasSubstr("from \"step 3\" on, some milestones lack changes of the previous milestone, "
                "so these milestones are separate configurations"));
}

TEST_F(EvoElite, RejectionsNameWhatOnlyThePolicyForbade) {
  store_.record_evaluation(run_, sample::rejected(0, 0,
                                                  {.gate = Gate::kResource,
                                                   .reason = "128 registers, policy 120",
                                                   .policy_only = true}));
  const ProgramResult result = elite("rejections");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("1 candidate was rejected only by policy"),
                    HasSubstr("registers_per_thread 120"), HasSubstr("128 registers, policy 120")));
  EXPECT_EQ(json::parse(lines(elite("rejections --json").out).at(0))["policy_only"], true);
}

TEST_F(EvoElite, WithdrawnCandidatesAreNeverCalledGreen) {
  const CandidateId gone = add(run_, 0, "a", 10, "first");
  const CandidateId kept = add(run_, 1, "b", 11, "second");
  store_.record_withdrawal(run_, {gone, 1, {Gate::kCorrectness, "faulted in a pair"}});
  EXPECT_THAT(elite("rejections").out,
              AllOf(HasSubstr("2 evaluated: 1 green, 0 rejected"),
                    HasSubstr("1 withdrawn: green, and failed later, the first at the "
                              "correctness gate: faulted in a pair\n")));
  EXPECT_THAT(elite("milestones").out,
              AllOf(HasSubstr("withdrawn"), HasSubstr("faulted in a pair")));
  const std::string number = std::to_string(gone);
  EXPECT_THAT(elite("show " + number).out, HasSubstr("withdrawn: was green, and then failed corr"));
  const json shown = json::parse(elite("show --json " + number).out);
  EXPECT_EQ(shown["outcome"], "withdrawn");
  EXPECT_EQ(shown["withdrawal"]["reason"], "faulted in a pair");
  EXPECT_THAT(elite("compare " + number + " " + std::to_string(kept)).out,
              HasSubstr("not both candidates are green"));
  EXPECT_THAT(elite("").out, Not(HasSubstr("10.00")));
}

/// Makes the output of compare_pytorch.py --json, which compares one candidate with PyTorch.
json compared(RunId run, CandidateId candidate) {
  json results = json::parse(R"({"device": "NVIDIA H200", "pytorch": "2.11.0", "results": [
    {"manifest": "out/copy.json", "right": true, "shape": {"name": "mission"},
     "evo_tune": {"problem_key": "problem-key"},
     "rows": [{"name": "evo-tune", "start": "fp8", "p50_us": 10},
              {"name": "math", "start": "fp16", "library": "PyTorch 2.11.0", "p50_us": 40, "ratio": 4,
               "ratio_interval_95": [3.9, 4.1]},
              {"name": "cudnn", "start": "fp16", "library": "PyTorch 2.11.0", "p50_us": 17.5,
               "ratio": 1.75, "ratio_interval_95": [1.74, 1.76]},
              {"name": "flash", "start": "fp8", "not_available": "no kernel"}]}]})");
  results["results"][0]["evo_tune"]["run"] = run;
  results["results"][0]["evo_tune"]["candidate"] = candidate;
  return results;
}

TEST_F(EvoElite, TheFastestTimeOfAVendorStandsBelowTheElite) {
  const CandidateId best = add(run_, 0, "a", 10);
  const auto store = [&](const json& results) {
    std::ofstream(folder_.path() / "result.json") << results;
    const std::string command = "cd '" + folder_.path().string() + "' && python3 '" +
                                source_folder().string() +
                                "/tools/bench/vendor_times.py' --db evo.db result.json > told 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream told(folder_.path() / "told");
    return std::pair(WEXITSTATUS(status), std::string(std::istreambuf_iterator<char>(told), {}));
  };
  json other = compared(run_, best);
  other["device"] = "NVIDIA L4";
  for (const auto& [results, why] :
       {std::pair(other, "on NVIDIA H200; the compared candidate has shape mission on NVIDIA L4"),
        std::pair(compared(run_, best + 1), "does not contain candidate 2 of run 1"),
        std::pair(json::object(), "result.json: lacks 'results'")}) {
    EXPECT_THAT(store(results), Pair(2, HasSubstr(why)));
  }
  EXPECT_THAT(elite("").out, Not(HasSubstr("times as long")));
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(store(compared(run_, best)), Pair(0, "2 times stored in evo.db\n"));
  }
  EXPECT_EQ(store_.vendor_times(run_).size(), 2U);
  EXPECT_THAT(elite("").out,
              HasSubstr("PyTorch 2.11.0 cudnn with fp16 inputs takes 17.50 µs: 1.75 times as long "
                        "as candidate 1 (1.74 to 1.76), timed in turn\n"));
  json wrong = compared(run_, best);
  wrong["results"][0]["right"] = false;
  EXPECT_THAT(store(wrong), Pair(0, "0 times stored in evo.db\n"));
}

TEST_F(EvoElite, ShowTellsAllOfACandidate) {
  const CandidateId id = add(run_, 0, "a", 10, "baseline");
  const json shown = json::parse(elite("show " + std::to_string(id) + " --json").out);
  EXPECT_EQ(shown["outcome"], "green");
  EXPECT_EQ(shown["milestone"], "baseline");
  EXPECT_EQ(shown["timing"]["samples"], 100);
  EXPECT_EQ(shown["compilation"]["ptx_hash"], "ptx-a");
  EXPECT_EQ(shown["checks"][0]["seed"], 18446744073709551614ULL);
  EXPECT_THAT(elite("show " + std::to_string(id)).out,
              AllOf(HasSubstr("TILE = 0"), HasSubstr("p50_us = 10"), HasSubstr("max abs err")));
}

TEST_F(EvoElite, CandidatesOfOtherRunsAreRefused) {
  const CandidateId id = add(run_, 0, "a", 10);
  const RunId other = store_.start_run(sample::run_info());
  const std::string one = std::to_string(id);
  EXPECT_EQ(elite("show " + one + " --run " + std::to_string(run_)).exit_code, 0);
  for (const std::string& question : {"show " + one, "compare " + one + " " + one}) {
    const ProgramResult result = elite(question + " --run " + std::to_string(other));
    EXPECT_EQ(result.exit_code, 2) << question;
    EXPECT_EQ(result.out, "") << question;
    EXPECT_THAT(result.err, HasSubstr("candidate " + one + " is of run 1"));
  }
}

TEST_F(EvoElite, MergesPrintTextOrJsonAndNotTheDatabaseItself) {
  Store other = Store::open(folder_.path() / "other.db");
  other.finish_run(other.start_run(sample::run_info()), RunStatus::kFinished);
  EXPECT_EQ(json::parse(elite("--json merge other.db").out),
            json::parse(R"({"file":"other.db","added":1,"updated":0,"unchanged":0,"running":0,)"
                        R"("on_other_host":0})"));
  EXPECT_EQ(elite("merge other.db").out, "other.db: 0 runs added, 0 updated, 1 unchanged\n");
  EXPECT_EQ(elite("--csv merge other.db").out,
            "file,added,updated,unchanged,running,on_other_host\r\nother.db,0,0,1,0,0\r\n");
  const ProgramResult itself = elite("merge ./evo.db");
  EXPECT_EQ(itself.exit_code, 2);
  EXPECT_THAT(itself.err, HasSubstr("./evo.db: is the database into which runs are copied"));
}

TEST_F(EvoElite, CompareGivesRatiosOnlyOfTimesThatMayBeCompared) {
  const CandidateId a = add(run_, 0, "a", 10);
  const CandidateId b = add(run_, 1, "b", 9);
  const RunId predicted = store_.start_run(sample::run_info(TimeKind::kPredicted));
  const CandidateId c = add(predicted, 0, "a", 5);
  store_.record_comparison(run_, {.challenger = b,
                                  .incumbent = a,
                                  .ratio = 0.9,
                                  .ratio_low = 0.88,
                                  .ratio_high = 0.92,
                                  .pairs = 40,
                                  .verdict = Verdict::kFaster});
  const std::string pair = std::to_string(a) + " " + std::to_string(b);
  const std::string text = elite("compare " + pair).out;
  EXPECT_THAT(text, AllOf(HasSubstr("0.9000"), HasSubstr("40 interleaved pairs"),
                          HasSubstr("(confidence interval 0.88 to 0.92): faster"),
                          HasSubstr("times as long as candidate "), HasSubstr("TILE")));
  EXPECT_THAT(text, Not(HasSubstr("SWIZZLE")));

  const std::string mixed = std::to_string(a) + " " + std::to_string(c);
  EXPECT_THAT(elite("compare " + mixed).out,
              HasSubstr("one time is measured, the other predicted"));
  for (const std::string& line : lines(elite("compare --json " + mixed).out)) {
    EXPECT_TRUE(json::parse(line)["b_over_a"].is_null()) << line;
  }
}

TEST_F(EvoElite, ListsRuns) {
  store_.finish_run(run_, RunStatus::kFinished);
  const json run = json::parse(elite("runs --json").out);
  EXPECT_EQ(run["status"], "finished");
  EXPECT_EQ(run["seed"], 18446744073709551615ULL);
  EXPECT_THAT(elite("runs").out, HasSubstr("finished"));
}

}  // namespace
}  // namespace evo
