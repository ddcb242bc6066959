// evo-tune --shortlist on a fake card beside fake virtual GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/json_reader.hpp"
#include "engine/study/recorded_space.hpp"
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

TEST(ShortlistCli, ReplaysWithPredictionsOfARecording) {
  const FakeSession session;
  const std::string recorded = source_folder() / "tests/recorded/h200/row_softmax.json.gz";
  const Recording recording = read_recording(recorded);
  nlohmann::json candidates = nlohmann::json::array();
  for (const RecordedEntry& entry : recording.entries) {
    if (!entry.time_ms || candidates.size() == 200) continue;
    nlohmann::json config;
    for (std::size_t p = 0; p < recording.parameters.size(); ++p) {
      const RecordedParameter& parameter = recording.parameters[p];
      config[parameter.name] = parameter.values[entry.candidate.choice[p]].text;
    }
    candidates.push_back({{"config", config}, {"predicted_us", *entry.time_ms * 900}});
  }
  write_file(session.path("p.json"), nlohmann::json{{"candidates", candidates}}.dump());
  const std::string command =
      "evo-replay --strategy random --repeats 20 --budget 25 --no-cutoff "
      "--json --recorded " +
      recorded + " --predictions p.json ";
  const auto replayed = [&](const std::string& more) {
    return json_lines(session.run(command + more).out).front();
  };
  const nlohmann::json all = replayed("");
  const nlohmann::json few = replayed("--shortlist 4");
  const nlohmann::json blind = replayed("--shortlist 4 --shuffle-predictions");
  EXPECT_EQ(all["evaluations"], 500);
  EXPECT_EQ(few["evaluations"], 500);
  EXPECT_GT(few["proposals"].get<int>(), 2 * all["proposals"].get<int>());
  const auto fraction = [](const nlohmann::json& study) {
    return study["fraction"]["25"]["mean"].get<double>();
  };
  EXPECT_GT(fraction(few), fraction(all) + 0.02);
  EXPECT_LT(fraction(blind), fraction(few) - 0.02);
  write_file(session.path("p.json"), R"({"candidates": [{"config": {"OTHER": "1"}}]})");
  const ProgramResult wrong = session.run(command);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("not what evo-predict rank --json writes"));
}

}  // namespace
}  // namespace evo
