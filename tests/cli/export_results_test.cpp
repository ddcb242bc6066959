// Tests the files that evo-export --t4 and --kernel-tuner-cache write: read_recording() can read
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/study/recorded_space.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

class EvoExportResults : public testing::Test {
 protected:
  /// Stores a run with one configuration for each outcome; the macro TILE numbers the
  /// configurations.
  RunId fill(TimeKind kind) {
    const RunId run = store_.start_run(sample::run_info(kind));
    const CompilationId one = store_.put_compilation(sample::compilation("a"));
    const CompilationId two = store_.put_compilation(sample::compilation("b"));
    EvaluationRecord timed = sample::green(0, 0, one, 12.5, kind);
    if (kind == TimeKind::kMeasured) {
      timed.gpu = GpuState{.looks = 3, .temperature_c = 51, .power_w = 300};
    }
    const CandidateId first = store_.record_evaluation(run, timed);
    const CandidateId withdrawn = store_.record_evaluation(run, sample::green(0, 1, two, 10, kind));
    store_.record_evaluation(run, sample::duplicate(0, 2, first));
    const auto reject = [&](int position, Gate gate, bool policy) {
      store_.record_evaluation(run, sample::rejected(0, position, {gate, "because", "", policy}));
    };
    reject(3, Gate::kBuild, false);
    reject(4, Gate::kResource, true);
    reject(5, Gate::kCorrectness, false);
    reject(6, Gate::kTiming, false);
    EvaluationRecord built = sample::rejected(0, 7, {Gate::kBuild, ""});
    built.rejection.reset();
    built.compilation = one;
    store_.record_evaluation(run, built);
    store_.record_withdrawal(run, {withdrawn, 0, {Gate::kCorrectness, "wrong when run again"}});
    return run;
  }

  ProgramResult run(const std::string& arguments) const {
    return run_program("evo-export " + arguments, folder_.path());
  }
  Json file(const std::string& name) const { return read_json_file(folder_.path() / name); }

  /// Reads an exported file, and maps each value of TILE to the time or the failure of its
  /// configuration.
  std::map<std::string, std::string> read_back(const std::string& name) const {
    const RecordedSpace space(read_recording(folder_.path() / name));
    std::map<std::string, std::string> found;
    for (const RecordedEntry& entry : space.recording().entries) {
      std::string tile;
      for (std::size_t p = 0; p < space.parameter_count(); ++p) {
        if (space.parameter_name(p) != "TILE") continue;
        tile = space.value_text(p, entry.candidate.choice[p]);
      }
      found[tile] = entry.time_ms ? Json(*entry.time_ms).dump() : entry.failure;
    }
    EXPECT_EQ(space.recording().kernel, "copy");
    return found;
  }

  sample::TemporaryFolder folder_;
  Store store_ = Store::open(folder_.path() / "evo.db");
};

TEST_F(EvoExportResults, T4IsReadBackAsItWasRecorded) {
  fill(TimeKind::kMeasured);
  const ProgramResult result = run("--t4 results.json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "results.json\n");
  EXPECT_THAT(result.err, AllOf(HasSubstr("1 configurations were compiled but not run"),
                                Not(HasSubstr("PREDICTED"))));
  EXPECT_THAT(read_back("results.json"),
              UnorderedElementsAre(Pair("0", "0.0125"), Pair("1", "correctness"),
                                   Pair("2", "0.0125"), Pair("3", "compile"), Pair("4", "runtime"),
                                   Pair("5", "correctness"), Pair("6", "runtime")));
  const Json written = file("results.json");
  EXPECT_EQ(written["environment"]["time_kind"], "measured");
  EXPECT_EQ(written["results"][0]["objectives"], Json({"time"}));
  EXPECT_EQ(written["results"][0]["times"]["runtimes"], Json({0.0125}));
  EXPECT_EQ(written["results"][4]["evo_tune"]["policy_only"], true);
}

TEST_F(EvoExportResults, ACacheIsReadBackAsItWasRecorded) {
  fill(TimeKind::kMeasured);
  ASSERT_EQ(run("--kernel-tuner-cache cache.json").exit_code, 0);
  EXPECT_THAT(read_back("cache.json"),
              UnorderedElementsAre(Pair("0", "0.0125"), Pair("1", "RuntimeFailedConfig"),
                                   Pair("2", "0.0125"), Pair("3", "CompilationFailedConfig"),
                                   Pair("4", "InvalidConfig"), Pair("5", "RuntimeFailedConfig"),
                                   Pair("6", "RuntimeFailedConfig")));
  const Json written = file("cache.json");
  EXPECT_EQ(written["objective"], "time");
  EXPECT_EQ(written["device_name"], "NVIDIA H200");
  EXPECT_EQ(written["tune_params_keys"], Json({"SWIZZLE", "TILE"}));
  EXPECT_EQ(written["tune_params"]["SWIZZLE"], Json({"xor"}));
  const Json& entry = written["cache"]["xor,0"];
  EXPECT_EQ(entry["TILE"], 0);
  EXPECT_EQ(entry["times"], Json({0.0125}));
  EXPECT_EQ(entry["evo_tune"]["gpu"], Json({{"sm_clock_mhz", nullptr},
                                            {"memory_clock_mhz", nullptr},
                                            {"temperature_c", 51},
                                            {"power_w", 300}}));
  for (const char* key : {"compile_time", "verification_time", "benchmark_time", "strategy_time",
                          "framework_time", "timestamp"}) {
    EXPECT_TRUE(entry.contains(key)) << key;
  }
}

TEST_F(EvoExportResults, APredictedTimeIsNoTime) {
  fill(TimeKind::kPredicted);
  const ProgramResult result = run("--t4 t4.json --kernel-tuner-cache cache.json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("PREDICTED"));
  const Json first = file("t4.json")["results"][0];
  EXPECT_EQ(first["objectives"], Json({"predicted_time"}));
  EXPECT_EQ(first["measurements"].size(), 1U);
  EXPECT_EQ(first["measurements"][0]["name"], "predicted_time");
  EXPECT_TRUE(first["times"]["runtimes"].empty());
  EXPECT_EQ(file("t4.json")["environment"]["time_kind"], "predicted");
  const Json cache = file("cache.json");
  EXPECT_EQ(cache["objective"], "predicted_time");
  EXPECT_FALSE(cache["cache"]["xor,0"].contains("time"));
  EXPECT_FALSE(cache["cache"]["xor,0"].contains("times"));
  EXPECT_EQ(read_back("t4.json").at("0"), "0.0125");
  EXPECT_EQ(read_back("cache.json").at("0"), "0.0125");
}

TEST_F(EvoExportResults, WhichRunAndWhere) {
  const RunId first = fill(TimeKind::kMeasured);
  EXPECT_EQ(run("--db none.db --t4 t4.json").exit_code, 2);
  EXPECT_EQ(run("--run 99 --t4 t4.json").exit_code, 2);
  EXPECT_EQ(run("--shape none --t4 t4.json").exit_code, 2);
  EXPECT_EQ(run("--t4 none/t4.json").exit_code, 2);
  const ProgramResult nothing = run("");
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--out FOLDER"));
  const ProgramResult both = run("--out out --t4 t4.json --run " + std::to_string(first));
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, AllOf(HasSubstr("t4.json\n"), HasSubstr("out/copy_h200_mission.cubin\n")));
}

}  // namespace
}  // namespace evo
