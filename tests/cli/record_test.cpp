// Tests the program evo-record on a fake device: evo-replay and the tests read its files, and a
// test continues an interrupted recording.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <set>

#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/study/recorded_space.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRecord = "--count 40 --seed 5 --check-seed 11 --control-every 8 ";

std::string record(const std::string& more, const std::string& device = "fake:measured") {
  return "evo-record --space " + FakeSession::faults_space() + " --device " + device +
         " --timeout " + FakeSession::kStepSeconds + " --jobs 2 " + more;
}

json read(const FakeSession& session, const std::string& name) {
  return json::parse(read_plain_or_gzip(session.path(name)));
}

/// Maps each configuration to its time in ms, or to the reason of its failure.
using Outcomes = std::map<std::string, std::string>;

Outcomes read_back(const FakeSession& session, const std::string& name) {
  const RecordedSpace space(read_recording(session.path(name)));
  Outcomes found;
  for (const RecordedEntry& entry : space.recording().entries) {
    std::map<std::string, std::string> values;
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      const std::string macro(space.parameter_name(p));
      values[macro] = space.value_text(p, entry.candidate.choice[p]);
    }
    found[json(values).dump()] = entry.time_ms ? json(*entry.time_ms).dump() : entry.failure;
  }
  return found;
}

/// Reads the outcome of every configuration from the database. `words` maps a gate to the word that
/// a recorded file has for rejections at the gate.
Outcomes stored(const FakeSession& session, const std::map<Gate, std::string>& words) {
  constexpr double kUsPerMs = 1000;
  Outcomes found;
  for (const EvaluationRecord& evaluation : session.store().evaluations(1)) {
    std::map<std::string, std::string> values;
    const json configuration = json::parse(evaluation.config_json);
    for (const auto& [macro, value] : configuration.items()) {
      values[macro] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    found[json(values).dump()] = evaluation.rejection
                                     ? words.at(evaluation.rejection->gate)
                                     : json(evaluation.timing->p50_us / kUsPerMs).dump();
  }
  return found;
}

const std::map<Gate, std::string>& t4_words() {
  static const std::map<Gate, std::string> words = {{Gate::kBuild, "compile"},
                                                    {Gate::kResource, "runtime"},
                                                    {Gate::kCorrectness, "correctness"},
                                                    {Gate::kTiming, "runtime"}};
  return words;
}

/// One line for each candidate in a recorded file, in order, without dates and compile times.
std::vector<std::string> content(const FakeSession& session, const std::string& name) {
  std::vector<std::string> lines;
  const json file = read(session, name);
  for (const json& result : file["results"]) {
    lines.push_back(result["configuration"].dump() + result["evo_tune"].dump() +
                    result["times"]["runtimes"].dump());
  }
  return lines;
}

bool is_complete(const FakeSession& session, const std::string& name) {
  return read(session, name)["environment"]["recording"]["complete"];
}

TEST(EvoRecord, WhatItWritesIsReadBackAsItWasFound) {
  const FakeSession session;
  const ProgramResult result =
      session.run(record(std::string(kRecord) + "--out r.json.gz --kernel-tuner-cache kt.json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "r.json.gz\nkt.json\n");
  EXPECT_THAT(result.err, HasSubstr("40/40 recorded"));
  EXPECT_THAT(result.err, HasSubstr("the control was timed 5 times"));
  const Outcomes outcomes = stored(session, t4_words());
  EXPECT_EQ(outcomes.size(), 40U);
  EXPECT_EQ(read_back(session, "r.json.gz"), outcomes);
  EXPECT_EQ(read_back(session, "kt.json"),
            stored(session, {{Gate::kBuild, "CompilationFailedConfig"},
                             {Gate::kResource, "InvalidConfig"},
                             {Gate::kCorrectness, "RuntimeFailedConfig"},
                             {Gate::kTiming, "RuntimeFailedConfig"}}));
  const ProgramResult replay =
      session.run("evo-replay --recorded r.json.gz kt.json --strategy random --repeats 2");
  EXPECT_EQ(replay.exit_code, 0) << replay.err;
  for (const char* program : {"evo-elite", "evo-export --out exported",
                              "evo-export --bundle bundle", "evo-report --out report.html"}) {
    EXPECT_THAT(session.run(program).err,
                HasSubstr("run 1 is a recording of evo-record, which keeps no elite"))
        << program;
  }
}

TEST(EvoRecord, TheFileSaysHowItWasMade) {
  const FakeSession session;
  ASSERT_EQ(session.run(record(std::string(kRecord) + "--out r.json")).exit_code, 0);
  const json file = read(session, "r.json");
  const json& environment = file["environment"];
  EXPECT_EQ(environment["device"], "fake GPU");
  EXPECT_EQ(environment["driver"], "fake 1.0");
  EXPECT_EQ(environment["time_kind"], "measured");
  EXPECT_EQ(environment["space"], "planted_faults");
  EXPECT_EQ(environment["problem"], "planted");
  EXPECT_EQ(environment["template"], "planted");
  EXPECT_EQ(environment["shape"], "mission");
  EXPECT_EQ(environment["seed"], 5);
  EXPECT_THAT(environment["started_at"].get<std::string>(), HasSubstr("T"));
  const json& recording = environment["recording"];
  EXPECT_EQ(recording["asked"], 40);
  EXPECT_EQ(recording["complete"], true);
  EXPECT_EQ(recording["protocol"]["statistic"], "p50");
  EXPECT_EQ(recording["protocol"]["warmups"], 20);
  EXPECT_EQ(recording["control"]["configuration"]["THREADS"], 64);
  EXPECT_EQ(recording["control"]["times"].size(), 5U);
  EXPECT_EQ(recording["control"]["times"][0]["after"], 9);
  EXPECT_EQ(recording["control"]["times"][4]["after"], 40);
  const json& first = file["results"][0];
  EXPECT_EQ(first["evo_tune"]["origin"], "default");
  EXPECT_GT(first["evo_tune"]["registers"].get<int>(), 0);
  EXPECT_TRUE(first["evo_tune"].contains("shared_bytes"));
  EXPECT_EQ(first["evo_tune"]["spill_bytes"], 0);
  EXPECT_EQ(first["measurements"][1]["name"], "time_p90");
}

/// Writes a space of the planted (deliberately defective) kernels in which the macro BUG has only
/// the values `defects`. For each of these values, the space has 34 configurations in 17 pairs; the
/// two configurations of a pair have the same machine code. Returns evo-record's option for this
/// space.
std::string space_of(const FakeSession& session, const std::vector<std::string>& defects) {
  json space = read_json_file(FakeSession::faults_space());
  space.erase("milestones");
  space["parameters"][0]["values"] = defects;
  space["parameters"][0]["default"] = defects.front();
  std::filesystem::create_directory(session.path("search_spaces"));
  std::filesystem::copy(source_folder() / "tests/planted/kernel_templates",
                        session.path("kernel_templates"), std::filesystem::copy_options::recursive);
  write_file(session.path("search_spaces/own.json"), space.dump());
  return "--space search_spaces/own.json ";
}

TEST(EvoRecord, TheWholeSpaceWithOneTimeForOneKernel) {
  const FakeSession session;
  const ProgramResult result =
      session.run(record(space_of(session, {"none"}) + "--count all --quiet --out r.json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json file = read(session, "r.json");
  EXPECT_EQ(file["environment"]["recording"]["asked"], 34);
  std::set<std::string> configurations;
  std::map<std::string, std::vector<std::string>> times;
  for (const json& one : file["results"]) {
    configurations.insert(one["configuration"].dump());
    times[one["evo_tune"]["kernel"]].push_back(one["measurements"].dump());
  }
  EXPECT_EQ(configurations.size(), 34U);
  EXPECT_EQ(times.size(), 17U);
  for (const auto& [kernel, of_kernel] : times) {
    ASSERT_EQ(of_kernel.size(), 2U) << kernel;
    EXPECT_EQ(of_kernel[0], of_kernel[1]) << kernel;
  }
}

TEST(EvoRecord, APredictedTimeIsNoTime) {
  const FakeSession session;
  const ProgramResult result =
      session.run(record("--count 20 --out r.json --kernel-tuner-cache kt.json", "fake:predicted"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("PREDICTED"));
  const json file = read(session, "r.json");
  EXPECT_EQ(file["environment"]["time_kind"], "predicted");
  EXPECT_EQ(file["environment"]["recording"]["protocol"]["statistic"], "prediction");
  EXPECT_EQ(file["environment"]["recording"]["control"], nullptr);
  for (const json& one : file["results"]) EXPECT_EQ(one["objectives"][0], "predicted_time");
  EXPECT_EQ(read(session, "kt.json")["objective"], "predicted_time");
}

class EvoRecordStopped : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    undisturbed_ = std::make_unique<FakeSession>();
    ASSERT_EQ(undisturbed_->run(record(std::string(kRecord) + "--out r.json")).exit_code, 0);
  }
  static void TearDownTestSuite() { undisturbed_.reset(); }

  /// Starts evo-record, and sends it `signal` once it has reported `evaluations` evaluations.
  int stop_after(int evaluations, int signal) const {
    RunningProgram program(record(std::string(kRecord) + "--json --out r.json"), session_.folder(),
                           session_.environment() + " EVO_FAKE_COMPILE_MS=20");
    return stop_after_evaluations(program, evaluations, signal);
  }

  static inline std::unique_ptr<FakeSession> undisturbed_;
  FakeSession session_;
};

TEST_F(EvoRecordStopped, KilledAndResumedGivesTheSameRecording) {
  for (const int evaluations : {4, 20}) {
    EXPECT_EQ(stop_after(evaluations, SIGKILL), 128 + SIGKILL);
    EXPECT_FALSE(std::filesystem::exists(session_.path("r.json")))
        << "a killed evo-record writes no partial file";
    const ProgramResult resumed =
        session_.run(record(std::string(kRecord) + "--resume --out r.json"));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("evaluations are kept"));
    EXPECT_EQ(content(session_, "r.json").size(), 40U);
    EXPECT_EQ(content(session_, "r.json"), content(*undisturbed_, "r.json"));
    std::filesystem::remove(session_.path("r.json"));
  }
}

TEST_F(EvoRecordStopped, InterruptedItWritesWhatItHasAndGoesOnToItsOwnCount) {
  EXPECT_EQ(stop_after(12, SIGINT), 130);
  EXPECT_FALSE(is_complete(session_, "r.json"));
  const std::vector<std::string> part = content(session_, "r.json");
  EXPECT_GE(part.size(), 12U);
  EXPECT_LT(part.size(), 40U);
  const ProgramResult resumed = session_.run(record("--resume --out r.json"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(is_complete(session_, "r.json"));
  EXPECT_EQ(content(session_, "r.json"), content(*undisturbed_, "r.json"));
}

TEST_F(EvoRecordStopped, AFinishedOneGoesOnWithALargerCount) {
  ASSERT_EQ(session_.run(record(std::string(kRecord) + "--count 15 --out r.json")).exit_code, 0);
  EXPECT_TRUE(is_complete(session_, "r.json"));
  const ProgramResult more = session_.run(record("--resume 1 --count 40 --out r.json"));
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(content(session_, "r.json"), content(*undisturbed_, "r.json"));
  EXPECT_EQ(read(session_, "r.json")["environment"]["recording"]["asked"], 40);
}

TEST_F(EvoRecordStopped, ASearchIsNotContinuedAsARecordingNorTheOtherWayRound) {
  EXPECT_EQ(stop_after(3, SIGINT), 130);
  const ProgramResult newest = session_.run(FakeSession::tune("--resume"));
  EXPECT_EQ(newest.exit_code, 2);
  EXPECT_THAT(newest.err, HasSubstr("no unfinished run"));
  const ProgramResult named = session_.run(FakeSession::tune("--resume 1"));
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.err, HasSubstr("run 1 was started to record, not to search"));
  const ProgramResult interval =
      session_.run(record("--resume --out r.json --control-every 9 --count 40"));
  EXPECT_EQ(interval.exit_code, 2);
  EXPECT_THAT(interval.err,
              HasSubstr("--control-every 9: run 1 can only be continued with its own value, 8"));
  const ProgramResult seed = session_.run(record("--resume --out r.json --check-seed 9"));
  EXPECT_EQ(seed.exit_code, 2);
  EXPECT_THAT(seed.err, HasSubstr("--check-seed 9: run 1 can only be continued with its own"));
}

TEST(EvoRecord, SaysWhatIsMissing) {
  const FakeSession session;
  const auto expect_refused = [&](const std::string& command, const std::string& why) {
    const ProgramResult result = session.run(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr(why)) << command;
  };
  expect_refused(record("--count 5"), "--out FILE");
  expect_refused(record("--out r.json"), "--count is required");
  expect_refused(record("--count some --out r.json"), "'some': allowed: a whole number");
  expect_refused(record("--count 5 --out none/r.json"), "there is no folder");
  expect_refused(record("--count 5 --out ."), "it is a folder");
  expect_refused(record("--count 5 --out r.json --kernel-tuner-cache ./r.json"),
                 "--kernel-tuner-cache ./r.json: is also the file of --out");
  expect_refused(record("--count 5 --out r.json", "none"), "--device none: ");
  expect_refused(record("--resume --out r.json"), "no unfinished run");
  EXPECT_FALSE(std::filesystem::exists(session.path("r.json")));
}

TEST(EvoRecord, NothingGreenIsOneAndAMissingDeviceIsThree) {
  const FakeSession session;
  const std::string space = space_of(session, {"all_zero", "does_not_compile"});
  const ProgramResult red = session.run(record(space + "--count 6 --out r.json --json"));
  EXPECT_EQ(red.exit_code, 1) << red.err;
  EXPECT_EQ(read(session, "r.json")["results"].size(), 6U);
  const std::vector<json> lines = json_lines(red.out);
  EXPECT_EQ(lines.back()["event"], "finished");
  EXPECT_EQ(lines.back()["green"], 0);

  const std::string missing = record("--count 6 --out m.json", "cuda:99");
  EXPECT_EQ(run_program(missing, session.folder()).exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(session.path("m.json")));
}

TEST(EvoRecord, QuietIsTheFilesNamesOnly) {
  const FakeSession session;
  const ProgramResult result = session.run(record("--count 3 --quiet --out r.json"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "r.json\n");
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace evo
