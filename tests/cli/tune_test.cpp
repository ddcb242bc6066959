// Tests the program evo-tune on a fake device with planted (deliberately defective) kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "db/queries.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Makes one run of a space with a milestone for each planted defect. All tests of this class
/// examine this run.
class EvoTunePlanted : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    session_ = std::make_unique<FakeSession>();
    result_ = session_->run(FakeSession::tune("--generations 3 --offspring 4 --json"));
  }
  static void TearDownTestSuite() { session_.reset(); }

  static std::map<std::string, EvaluationRecord> milestones() {
    std::map<std::string, EvaluationRecord> found;
    for (const EvaluationRecord& evaluation : session_->store().evaluations(1)) {
      if (!evaluation.milestone.empty()) found[evaluation.milestone] = evaluation;
    }
    return found;
  }

  static inline std::unique_ptr<FakeSession> session_;
  static inline ProgramResult result_;
};

TEST_F(EvoTunePlanted, EndsGreenWithAnEliteOfThree) {
  EXPECT_EQ(result_.exit_code, 0) << result_.err;
  const Store store = session_->store();
  const std::vector<EliteRow> elite = elite_of_run(store, 1);
  ASSERT_EQ(elite.size(), 3U);
  for (const EliteRow& row : elite) {
    EXPECT_THAT(row.config_json, HasSubstr(R"("BUG":"none")"));
    EXPECT_EQ(row.kind, TimeKind::kMeasured);
  }
  EXPECT_EQ(store.run(1).status, RunStatus::kFinished);
  EXPECT_EQ(store.generations(1).size(), 3U);
}

TEST_F(EvoTunePlanted, JsonSaysWhereTheTimeWasSpent) {
  for (const json& line : json_lines(result_.out)) {
    if (line.at("event") != "speed") continue;
    for (const char* key : {"compile_ms", "check_ms", "time_ms", "engine_ms"}) {
      EXPECT_GT(line.at(key).get<double>(), 0) << key;
    }
    return;
  }
  ADD_FAILURE() << "no event \"speed\"";
}

TEST_F(EvoTunePlanted, JsonOutputIsObjectsAndNothingElse) {
  const std::vector<json> lines = json_lines(result_.out);
  std::map<std::string, int> events;
  for (const json& line : lines) ++events[line.at("event").get<std::string>()];
  EXPECT_EQ(events["generation"], 3);
  EXPECT_EQ(events["finished"], 1);
  EXPECT_EQ(static_cast<std::size_t>(events["evaluated"]), session_->store().evaluations(1).size());
  EXPECT_EQ(lines.back().at("event"), "finished");
  EXPECT_EQ(result_.err, "");
}

TEST_F(EvoTunePlanted, EveryDefectIsStoppedAtItsGateWithAReason) {
  struct Expected {
    Gate gate;
    std::string reason;
  };
  const std::map<std::string, Expected> expected = {
      {"out of bounds after", {Gate::kCorrectness, "wrote outside buffer 'y'.*past its end"}},
      {"out of bounds before", {Gate::kCorrectness, "wrote outside buffer 'y'.*before its start"}},
      {"all zero", {Gate::kCorrectness, "y\\[0\\] = 0, expected"}},
      {"leaves nan", {Gate::kCorrectness, "1 non-finite element"}},
      {"changes input", {Gate::kCorrectness, "changed its input 'x'"}},
      {"does not compile", {Gate::kBuild, "planted.cu\\(7\\): error"}},
      {"skips tail", {Gate::kCorrectness, "non-finite element"}},
      {"stale", {Gate::kCorrectness, "non-finite element"}},
      {"knows inputs", {Gate::kCorrectness, "error .* > "}},
      {"nondeterministic", {Gate::kCorrectness, "second run .* first at y\\[0\\]"}},
      {"wrong later", {Gate::kCorrectness, "timed launches, .* max abs error"}},
      {"illegal address", {Gate::kCorrectness, "illegal address"}},
      {"never returns",
       {Gate::kCorrectness, "did not finish within " + std::string(FakeSession::kStepSeconds) +
                                " s while checking shape"}},
      {"too many registers", {Gate::kResource, "registers 200 > 128 \\(policy\\)"}},
      {"spills", {Gate::kResource, "spill bytes 64 > 0 \\(policy\\)"}},
      {"lies about time", {Gate::kTiming, "below the roofline bound"}},
      {"crashes", {Gate::kCorrectness, "took its process down \\(signal 6.*while checking shape"}},
      {"crashes compiler", {Gate::kBuild, "the compiler crashed: signal 6"}},
  };
  const auto found = milestones();
  for (const auto& [name, want] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    const auto& rejection = found.at(name).rejection;
    ASSERT_TRUE(rejection.has_value()) << name << " passed every gate";
    EXPECT_EQ(to_string(rejection->gate), to_string(want.gate))
        << name << ": " << rejection->reason;
    EXPECT_THAT(rejection->reason, ContainsRegex(want.reason)) << name;
    const bool by_policy = want.gate == Gate::kResource;
    EXPECT_EQ(rejection->policy_only, by_policy) << name;
  }
  for (const char* name : {"clean", "narrow", "long"}) {
    EXPECT_FALSE(found.at(name).rejection.has_value()) << name;
  }
}

TEST_F(EvoTunePlanted, TheSameKernelIsNotRunTwice) {
  const auto found = milestones();
  EXPECT_EQ(found.at("alias").duplicate_of, found.at("clean").id);
  EXPECT_EQ(found.at("alias").check_ms, 0);
}

TEST_F(EvoTunePlanted, ReplacedWorkersAreEvents) {
  std::map<std::string, int> kinds;
  for (const StoredEvent& event : session_->store().events(1)) ++kinds[event.kind];
  EXPECT_GE(kinds["device worker killed"], 2);    // milestones "never returns", "crashes"
  EXPECT_GE(kinds["device worker replaced"], 1);  // milestone "illegal address"
}

TEST_F(EvoTunePlanted, CompilersThatDiedAreNotRemembered) {
  const auto found = milestones();
  EXPECT_FALSE(found.at("crashes compiler").compilation.has_value());
  EXPECT_TRUE(found.at("does not compile").compilation.has_value());
}

TEST_F(EvoTunePlanted, CandidatesAreDistinct) {
  std::set<std::string> configs;
  const std::vector<EvaluationRecord> all = session_->store().evaluations(1);
  for (const EvaluationRecord& evaluation : all) configs.insert(evaluation.config_json);
  EXPECT_EQ(configs.size(), all.size());
}

TEST(EvoTune, QuietSaysOnlyTheResult) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::tune("--generations 1 --offspring 1 --quiet"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(HasSubstr("THREADS"), HasSubstr("evo-export"),
                                HasSubstr("rejected only by the space's policy")));
}

TEST(EvoTune, NamesTheLimitsTheNearestMissAndTheWinnersChecks) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::tune("--generations 1 --offspring 1 --quiet"));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("by limit: registers > 128: 1, spill bytes > 0: 1"),
                    ContainsRegex("closest to the limits: candidate [0-9]+ with registers "
                                  "200 > 128"),
                    HasSubstr("the winner's checks: 5 seeds: "), Not(HasSubstr("policy cost")),
                    HasSubstr("a space with a wider policy: --space "), HasSubstr("/wide.json\n")));
}

TEST(EvoTune, TimesWhatOnlyThePolicyRejectedOutsideTheElite) {
  const FakeSession session;
  const ProgramResult result = session.run(
      FakeSession::tune("--generations 1 --offspring 1 --time-policy-rejects 5 --quiet"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      ContainsRegex("policy cost: none found: [0-9.]+ µs .best under policy. vs [0-9.]+ µs .best "
                    "without, measured., candidate [0-9]+, .* registers: .* > .*; of 2 "
                    "judged without the policy, 1 green; A/B pairs: ratio"));
  const Store store = session.store();
  for (const EliteRow& row : elite_of_run(store, 1)) {
    EXPECT_THAT(row.config_json, Not(HasSubstr("too_many_registers")));
  }
  bool recorded = false;
  for (const StoredEvent& event : store.events(1)) recorded |= event.kind == "policy cost";
  EXPECT_TRUE(recorded);
}

TEST(EvoTune, ThePolicysCostIsAnObjectWithJson) {
  const FakeSession session;
  const ProgramResult result = session.run(
      FakeSession::tune("--generations 1 --offspring 1 --time-policy-rejects 1 --json"));
  std::size_t seen = 0;
  for (const json& line : json_lines(result.out)) {
    if (line.at("event") != "policy") continue;
    ++seen;
    EXPECT_EQ(line.at("kernels"), 2);
    EXPECT_EQ(line.at("limits"), (json{{"registers > 128", 1}, {"spill bytes > 0", 1}}));
    EXPECT_EQ(line.at("judged"), 1);
    EXPECT_GT(line.at("without_us"), 0);
    EXPECT_EQ(line.at("kind"), "measured");
  }
  EXPECT_EQ(seen, 1U);
}

TEST(EvoTune, PeopleSeeProgressOnStandardError) {
  const FakeSession session;
  const ProgramResult result = session.run(FakeSession::tune("--generations 1 --offspring 1"));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("generation 1/1"), HasSubstr("green"), HasSubstr("correctness "),
                    HasSubstr("best p50"), Not(HasSubstr("PREDICTED"))));
}

TEST(EvoTune, PredictedTimesAreAnnouncedAndStoredAsSuch) {
  const FakeSession session;
  const ProgramResult result =
      session.run("evo-tune --space " + FakeSession::faults_space() +
                  " --device fake:predicted --timeout 0.4 --generations 1 --offspring 1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("PREDICTED"));
  for (const EliteRow& row : elite_of_run(session.store(), 1)) {
    EXPECT_EQ(row.kind, TimeKind::kPredicted);
  }
}

/// Writes a copy of the space file in which every configuration has a defect, and returns its path.
std::string space_of_defects(const FakeSession& session) {
  json space = json::parse(read_text_file(FakeSession::faults_space()));
  space["parameters"][0]["values"] = {"all_zero", "too_many_registers"};
  space["parameters"][0].erase("default");
  space["milestones"] = json::array();
  std::filesystem::create_directories(session.path("search_spaces"));
  std::filesystem::copy(source_folder() / "tests/planted/kernel_templates",
                        session.path("kernel_templates"), std::filesystem::copy_options::recursive);
  write_file(session.path("search_spaces/defects.json"), space.dump());
  return session.path("search_spaces/defects.json");
}

TEST(EvoTune, NothingGreenIsExitCodeOneWithReasons) {
  const FakeSession session;
  const ProgramResult result = session.run("evo-tune --space " + space_of_defects(session) +
                                           " --device fake:measured --generations 2 --offspring 6");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("correctness"), HasSubstr("error"),
                                HasSubstr("registers 200 > 128")));
  EXPECT_TRUE(elite_of_run(session.store(), 1).empty());
}

TEST(EvoTune, WithoutADeviceNothingIsCalledGreen) {
  const FakeSession session;
  const ProgramResult result = session.run("evo-tune --space " + FakeSession::faults_space() +
                                           " --device none --generations 1 --offspring 1 --jobs 2");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("NO DEVICE"), HasSubstr("not judged")));
  EXPECT_TRUE(elite_of_run(session.store(), 1).empty());
}

TEST(EvoTune, TwoOnOneDatabaseBothSucceed) {
  const FakeSession session;
  const std::string command = FakeSession::tune("--generations 2 --offspring 4 --json");
  RunningProgram first(command, session.folder(), session.environment());
  RunningProgram second(command, session.folder(), session.environment());
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  const Store store = session.store();
  ASSERT_EQ(store.runs().size(), 2U);
  for (const StoredRun& run : store.runs()) {
    EXPECT_EQ(run.status, RunStatus::kFinished);
    EXPECT_EQ(elite_of_run(store, run.id).size(), 3U);
    // 22 milestones, the default configuration and two generations of four.
    EXPECT_EQ(store.evaluations(run.id).size(), 31U);
  }
}

TEST(EvoTune, ASecondRunReusesCompilations) {
  const FakeSession session;
  ASSERT_EQ(session.run(FakeSession::tune("--generations 1 --quiet")).exit_code, 0);
  ASSERT_EQ(session.run(FakeSession::tune("--generations 1 --quiet --no-warm-start")).exit_code, 0);
  for (const EvaluationRecord& evaluation : session.store().evaluations(2)) {
    // The second run repeats a compilation if the compiler process died in the first run.
    if (evaluation.config_json.find("crashes_compiler") != std::string::npos) continue;
    EXPECT_EQ(evaluation.compile_ms, 0) << evaluation.config_json;
  }
}

/// A run with kernels that kill their worker, exhaust its memory, or fail after they were green.
class EvoTuneHostile : public testing::Test {
 protected:
  [[nodiscard]] ProgramResult run(const std::string& more) const {
    const std::string space =
        source_folder() / "tests/planted/search_spaces/planted_comparisons.json";
    return run_program(
        "evo-tune --space " + space +
            " --device fake:measured --jobs 2 --strategy exhaustive --offspring 30 " + more,
        session_.folder(), session_.environment() + " EVO_FAKE_STATE=" + session_.path("state"));
  }
  FakeSession session_;
};

TEST_F(EvoTuneHostile, NoCandidateEndsARunAndNoneThatFailedLaterIsInTheElite) {
  const ProgramResult result = run("--generations 7 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Store store = session_.store();
  std::map<std::string, std::set<std::string>> reasons;
  std::set<CandidateId> withdrawn;
  for (const WithdrawalRecord& record : store.withdrawals(1)) withdrawn.insert(record.candidate);
  for (const EvaluationRecord& evaluation : store.evaluations(1)) {
    const json config = json::parse(evaluation.config_json);
    const auto& rejection = evaluation.rejection;
    reasons[config["BUG"]].insert(rejection ? rejection->reason : "green");
    if (withdrawn.contains(evaluation.id)) {
      EXPECT_EQ(config["BUG"], "fails_since_a_pair");
    }
  }
  EXPECT_FALSE(withdrawn.empty());
  for (const auto& [bug, why] :
       {std::pair("fails_on_the_host", "a call of the driver failed"),
        std::pair("eats_memory", "memory"), std::pair("fails", "planted failure of the compiler"),
        std::pair("runs_out_of_memory", "and alone with"),
        std::pair("says_nul", "\\x00ptxas error"),
        std::pair("says_nothing", "no reason was given")}) {
    for (const std::string& reason : reasons[bug]) EXPECT_THAT(reason, HasSubstr(why)) << bug;
    EXPECT_FALSE(reasons[bug].empty()) << bug;
  }
  EXPECT_EQ(reasons["is_killed_once"], std::set<std::string>{"green"});
  for (const StoredGeneration& generation : store.generations(1)) {
    for (const CandidateId entry : generation.record.elite) {
      const json config = json::parse(store.evaluation(entry).config_json);
      EXPECT_NE(config["BUG"], "fails_in_pairs");
      const bool left = withdrawn.contains(entry) &&
                        store.withdrawals(1).front().generation <= generation.record.number;
      EXPECT_FALSE(left) << "candidate " << entry << " was withdrawn, but is in the elite";
    }
  }
  const ProgramResult exported =
      session_.run("evo-export --out out --candidate " + std::to_string(*withdrawn.begin()));
  EXPECT_EQ(exported.exit_code, 2);
  EXPECT_THAT(exported.err, HasSubstr("was withdrawn"));
}

}  // namespace
}  // namespace evo
