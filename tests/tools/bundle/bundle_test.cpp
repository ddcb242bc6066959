// Tests `evo-export --bundle` by running the program on made-up databases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"
#include "tools/loader/evo_tune_index.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProblem = R"({
  "name": "copy", "shapes": {
    // Not in alphabetical order.
    "small": {"variables": {"S": 32, "B": 2}},
    "mission": {"variables": {"S": 512, "B": 2}},
    "long": {"variables": {"S": 2048, "B": 2}}}})";
constexpr const char* kSpace = R"({"name": "copy_h200", "template": "plain", "parameters": [
  {"macro": "TILE", "values": {"from": 1, "to": 900, "step": 1}},
  {"macro": "SWIZZLE", "values": ["none", "xor"], "default": "xor"}]})";
constexpr const char* kManifest = R"({
  "entry": "copy", "shape": {"name": "mission"}, "macros": {"TILE": 1}, "launch": {},
  "arguments": [{"name": "x", "direction": "in", "dtype": "f32", "extent": {"expression": "B*S"}},
                {"name": "w", "direction": "workspace", "dtype": "f32", "extent": {"expression": "S"}}],
  "valid": [{"expression": "S > 0", "why": "it must be"}]})";

class EvoExportBundle : public testing::Test {
 protected:
  static RunInfo run_info(const std::string& shape, TimeKind kind = TimeKind::kMeasured) {
    RunInfo info = sample::run_info(kind);
    info.problem.text = kProblem;
    info.space.text = kSpace;
    info.shape = shape;
    return info;
  }
  RunId start(const std::string& shape) { return store_.start_run(run_info(shape)); }

  /// A green evaluation with a made-up configuration and kernel, both of which depend on `number`.
  static EvaluationRecord evaluation(Store& store, int number, double p50_us,
                                     TimeKind kind = TimeKind::kMeasured) {
    const std::string name = std::to_string(number);
    EvaluationRecord record =
        sample::green(0, number, store.put_compilation(sample::compilation(name)), p50_us, kind);
    record.manifest_json = kManifest;
    return record;
  }
  CandidateId add(RunId run, int number, double p50_us, const std::string& manifest = kManifest) {
    EvaluationRecord record = evaluation(store_, number, p50_us);
    record.manifest_json = manifest;
    return store_.record_evaluation(run, record);
  }
  void elite(RunId run, const std::vector<CandidateId>& candidates) {
    store_.record_generation(run, {.number = 0, .elite = candidates});
  }

  ProgramResult run(const std::string& arguments) const {
    return run_program("evo-export " + arguments, folder_.path());
  }
  Json exported(const std::string& more = "") const {
    const ProgramResult result = run("--bundle out " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_json_file(folder_.path() / "out/bundle.json");
  }
  /// The kernel that serves each shape on the bundle's only device, as "shape=kernel number".
  static std::vector<std::string> serves(const Json& index) {
    EXPECT_EQ(index["targets"].size(), 1U);
    std::vector<std::string> texts;
    for (const Json& entry : index["targets"][0]["serves"]) {
      for (const Json& kernel : index["kernels"]) {
        if (kernel["name"] != entry["kernel"]) continue;
        texts.push_back(entry["shape"].get<std::string>() + "=" + kernel["config"]["TILE"].dump());
      }
    }
    std::ranges::sort(texts);
    return texts;
  }

  sample::TemporaryFolder folder_;
  Store store_ = Store::open(folder_.path() / "evo.db");
};

TEST_F(EvoExportBundle, OneKernelServesTheShapesWhereItIsGoodEnough) {
  const RunId mission = start("mission");
  const RunId longer = start("long");
  elite(mission, {add(mission, 1, 10), add(mission, 2, 10.1)});
  elite(longer, {add(longer, 3, 40), add(longer, 2, 40.5)});
  EXPECT_THAT(serves(exported()), ElementsAre("long=2", "mission=2"));
  EXPECT_THAT(serves(exported("--loss-percent 0.5")), ElementsAre("long=3", "mission=1"));
}

TEST_F(EvoExportBundle, ATimeThatNobodyTookIsNotGuessed) {
  const RunId mission = start("mission");
  const RunId longer = start("long");
  elite(mission, {add(mission, 2, 10)});
  elite(longer, {add(longer, 3, 40)});
  EXPECT_THAT(serves(exported("--loss-percent 500")), ElementsAre("long=3", "mission=2"));
  EXPECT_THAT(run("--bundle out").err,
              HasSubstr("NVIDIA H200: 2 kernels, 2 shapes: 2 of 4 times are known"));
}

/// Two builds may give the same PTX, but the valid shapes and the launch depend on the macros.
TEST_F(EvoExportBundle, KernelsThatAreCompiledWithDifferentMacrosAreDifferent) {
  Json problem = parse_json(kProblem, "problem");
  problem["macros"] = {{"IS_LONG", "S > 1000"}};
  for (const char* shape : {"mission", "long"}) {
    RunInfo info = run_info(shape);
    info.problem.text = problem.dump();
    const RunId run = store_.start_run(info);
    CompilationRecord compiled = sample::compilation(shape);
    compiled.ptx_hash = "the same";
    compiled.options = std::string("-DTILE=1 -DIS_LONG=") + (info.shape == "long" ? "1" : "0");
    EvaluationRecord record = sample::green(0, 1, store_.put_compilation(compiled), 10);
    record.manifest_json = kManifest;
    elite(run, {store_.record_evaluation(run, record)});
  }
  const Json index = exported();
  const Json& serves = index["targets"][0]["serves"];
  ASSERT_EQ(serves.size(), 2U);
  EXPECT_NE(serves[0]["kernel"], serves[1]["kernel"]);
}

TEST_F(EvoExportBundle, TheIndexIsOfManifestsWithTimesAndValidity) {
  const RunId mission = start("mission");
  elite(mission, {add(mission, 2, 10)});
  const Json index = exported("--name fast_copy");
  EXPECT_EQ(index["format"], "evo-tune bundle 3");
  EXPECT_EQ(index["name"], "fast_copy");
  EXPECT_EQ(index["problem"], "copy");
  EXPECT_EQ(index["loss"], 0.02);
  EXPECT_EQ(index["shape_variables"], Json({"S", "B"}));
  const Json& target = index["targets"][0];
  EXPECT_EQ(target["device"], "NVIDIA H200");
  EXPECT_EQ(target["kind"], "measured");
  ASSERT_EQ(index["kernels"].size(), 1U);
  const Json& kernel = index["kernels"][0];
  EXPECT_EQ(kernel["format"], "evo-tune kernel 1");
  EXPECT_EQ(kernel["name"], "copy_h200_mission");
  EXPECT_FALSE(kernel.contains("source"));
  EXPECT_EQ(kernel["times"][0]["p50_us"], 10.0);
  EXPECT_EQ(kernel["times"][0]["driver"], "580.1");
  EXPECT_EQ(kernel["times"][0]["variables"], Json({{"B", 2}, {"S", 512}}));
  EXPECT_EQ(kernel["checked_shapes"],
            Json({{"mission", {{"B", 2}, {"S", 512}}}, {"small", {{"B", 2}, {"S", 32}}}}));
  // The kernel is valid under the conditions of its manifest and under conditions that all checked
  // shapes satisfy.
  std::vector<std::string> valid;
  for (const Json& condition : kernel["valid"]) valid.push_back(condition["expression"]);
  EXPECT_THAT(valid, ElementsAre("S > 0", "B in [2]", "32 <= S <= 512 && S % 1 == 0", "S % 32 == 0",
                                 "(B*S) <= 1024",
                                 // evo-export cannot analyse this made-up PTX, so only the checked
                                 // sizes are served.
                                 "(B == 2 && S == 32) || (B == 2 && S == 512)"));
  EXPECT_EQ(read_text_file(folder_.path() / "out/copy_h200_mission.cubin"),
            sample::compilation("2").cubin);
  EXPECT_EQ(read_text_file(folder_.path() / "out/copy_h200_mission.ptx"),
            sample::compilation("2").ptx);
}

TEST_F(EvoExportBundle, DefaultsComeAlongWhereTheyWereChecked) {
  const RunId mission = start("mission");
  const CandidateId best = add(mission, 2, 10);
  const CandidateId defaults = add(mission, 1, 30);
  elite(mission, {best});
  EXPECT_THAT(run("--bundle out").err,
              HasSubstr("the default configuration of space copy_h200 is left out"));
  EXPECT_EQ(exported()["targets"][0]["defaults"], Json::array());
  store_.record_generation(mission, {.number = 1, .elite = {best, defaults}});
  EXPECT_THAT(run("--bundle out").err, Not(HasSubstr("defaults")));
  EXPECT_EQ(exported()["targets"][0]["defaults"], Json({"copy_h200_default"}));
  EXPECT_EQ(exported()["kernels"].size(), 2U);
}

TEST_F(EvoExportBundle, WhatWasWithdrawnInAnyRunIsLeftOut) {
  const RunId mission = start("mission");
  const RunId longer = start("long");
  elite(mission, {add(mission, 1, 10), add(mission, 2, 10.1)});
  const CandidateId failed = add(longer, 1, 39);
  elite(longer, {failed, add(longer, 2, 40.5)});
  store_.record_withdrawal(longer, {.candidate = failed,
                                    .generation = 0,
                                    .why = {.gate = Gate::kCorrectness, .reason = "wrong"}});
  EXPECT_THAT(serves(exported()), ElementsAre("long=2", "mission=2"));
}

TEST_F(EvoExportBundle, WhatTheProfileGateRejectedServesOtherShapes) {
  const RunId mission = start("mission");
  const RunId longer = start("long");
  elite(mission, {add(mission, 1, 10), add(mission, 2, 11)});
  const CandidateId idle = add(longer, 1, 39);
  elite(longer, {idle, add(longer, 2, 40.5)});
  store_.record_withdrawal(
      longer,
      {.candidate = idle, .generation = 0, .why = {.gate = Gate::kProfile, .reason = "idle"}});
  EXPECT_THAT(serves(exported()), ElementsAre("long=2", "mission=1"));
}

TEST_F(EvoExportBundle, SeveralDatabasesAndDevicesMeetInOneBundle) {
  const RunId mission = start("mission");
  elite(mission, {add(mission, 2, 10)});
  {
    Store other = Store::open(folder_.path() / "other.db");
    const RunId run = other.start_run(run_info("long", TimeKind::kPredicted));
    const CandidateId best =
        other.record_evaluation(run, evaluation(other, 2, 5, TimeKind::kPredicted));
    const CandidateId defaults =
        other.record_evaluation(run, evaluation(other, 1, 50, TimeKind::kPredicted));
    other.record_generation(run, {.number = 0, .elite = {best, defaults}});
    Store same = Store::open(folder_.path() / "same.db");
    const RunId again = same.start_run(run_info("long"));
    const CandidateId slow = same.record_evaluation(again, evaluation(same, 2, 50));
    same.record_generation(again, {.number = 0, .elite = {slow}});
  }
  const Json index = exported("--db evo.db --db other.db --db same.db");
  ASSERT_EQ(index["targets"].size(), 2U);
  std::set<std::string> kinds;
  for (const Json& target : index["targets"]) {
    kinds.insert(target["kind"]);
    EXPECT_EQ(target["serves"].size(), target["kind"] == "measured" ? 2U : 1U);
    EXPECT_EQ(target["defaults"].size(), target["kind"] == "measured" ? 0U : 1U);
  }
  EXPECT_EQ(kinds.size(), 2U);
  EXPECT_THAT(run("--bundle out --db other.db").err, HasSubstr("PREDICTED"));
}

TEST_F(EvoExportBundle, AnOlderDatabaseIsValidOnlyWhereItWasChecked) {
  const RunId mission = start("mission");
  Json manifest = Json::parse(kManifest);
  manifest.erase("valid");
  elite(mission, {add(mission, 2, 10, manifest.dump())});
  EXPECT_THAT(run("--bundle out").err, HasSubstr("older evo-tune"));
  EXPECT_EQ(exported()["kernels"][0]["valid"][0]["expression"],
            "(B == 2 && S == 512) || (B == 2 && S == 32)");
}

TEST_F(EvoExportBundle, WithoutAFinishedGenerationSaysWhatToDo) {
  const RunId mission = start("mission");
  const CandidateId green = add(mission, 2, 10);
  const ProgramResult result = run("--bundle out");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("no generation was finished"), HasSubstr("--resume"),
                                HasSubstr("--candidate")));
  EXPECT_EQ(run("--bundle out --candidate " + std::to_string(green)).exit_code, 0);
}

TEST_F(EvoExportBundle, WhatDoesNotBelongTogetherIsRefused) {
  EXPECT_EQ(run("--bundle out").exit_code, 1);
  const RunId mission = start("mission");
  const RunId longer = start("long");
  elite(mission, {add(mission, 2, 10)});
  Json manifest = Json::parse(kManifest);
  manifest["arguments"][0]["dtype"] = "f16";
  elite(longer, {add(longer, 3, 40, manifest.dump())});
  const auto error = [&](const std::string& arguments) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    return result.err;
  };
  EXPECT_THAT(error("--bundle out"), HasSubstr("run 2 (copy_h200) take other arguments"));
  EXPECT_EQ(run("--bundle out --run 2").exit_code, 0);
  EXPECT_THAT(error("--bundle out --run 9"), HasSubstr("9"));
  EXPECT_THAT(error("--bundle out --run 1 --db evo.db --db evo.db"), HasSubstr("--run"));
  EXPECT_THAT(error("--out out --run 1 --run 2"), HasSubstr("--bundle only"));
  for (const char* option : {"--out", "--t4", "--kernel-tuner-cache", "--rank"}) {
    EXPECT_THAT(error("--bundle b " + std::string(option) + " 1"),
                AllOf(HasSubstr("--bundle"), HasSubstr(option)));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "b"));
  EXPECT_THAT(error("--bundle out --loss-percent -1"), HasSubstr("--loss-percent"));
  EXPECT_THAT(error("--loss-percent 1 --out out"), HasSubstr("--bundle"));
  EXPECT_THAT(error("--bundle evo.db/x --run 1"), HasSubstr("--bundle evo.db/x"));
  RunInfo other = run_info("long");
  other.problem.name = "sums";
  other.problem.key = "another";
  (void)store_.start_run(other);
  EXPECT_THAT(error("--bundle out"), HasSubstr("several problems: copy, sums"));
  manifest["arguments"][0]["kind"] = "texture";
  const RunId textured = start("small");
  elite(textured, {add(textured, 4, 4, manifest.dump())});
  EXPECT_THAT(error("--bundle out --run 4"),
              AllOf(HasSubstr("'x'"), HasSubstr("texture: not supported in bundles")));
}

TEST_F(EvoExportBundle, ABundleIsReplacedAsAWhole) {
  const RunId mission = start("mission");
  elite(mission, {add(mission, 2, 10)});
  const auto code = [&](const Json& index) {
    const Json& kernel = index["kernels"][0];
    const auto file = kernel["cubin"].get<std::string>();
    const std::string content = read_text_file(folder_.path() / "out" / file);
    EXPECT_EQ(evo_tune::detail::sha256(content), kernel["sha256"]["cubin"]);
    return file;
  };
  EXPECT_EQ(code(exported()), "copy_h200_mission.cubin");
  EXPECT_EQ(code(exported()), "copy_h200_mission.cubin");
  const std::string old_index = read_text_file(folder_.path() / "out/bundle.json");

  // Exports another kernel under the same name. evo-export writes the new files beside the old
  // files and replaces the index last, so that the old bundle stays valid if an export fails.
  CompilationRecord other = sample::compilation("9");
  other.cubin += " of another kernel";
  other.ptx += " of another kernel";
  EvaluationRecord record = sample::green(0, 9, store_.put_compilation(other), 5);
  record.manifest_json = kManifest;
  const RunId again = start("mission");
  elite(again, {store_.record_evaluation(again, record)});
  const std::string folder = (folder_.path() / "out").string();
  const auto listing = [&] {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      names.insert(file.path().filename().string());
    }
    return names;
  };
  const std::set<std::string> before = listing();
  std::filesystem::rename(folder + "/bundle.json", folder + "/kept");
  std::filesystem::create_directory(folder + "/bundle.json");
  std::ofstream(folder + "/bundle.json/x") << "in the way";
  EXPECT_EQ(run("--bundle out --run 2").exit_code, 2);
  std::filesystem::remove_all(folder + "/bundle.json");
  std::filesystem::rename(folder + "/kept", folder + "/bundle.json");
  EXPECT_EQ(listing(), before);
  EXPECT_EQ(read_text_file(folder + "/bundle.json"), old_index);
  EXPECT_EQ(code(Json::parse(old_index)), "copy_h200_mission.cubin");

  const std::string renamed = code(exported("--run 2"));
  EXPECT_THAT(renamed, testing::MatchesRegex("copy_h200_mission_[0-9a-f]+\\.cubin"));
  EXPECT_EQ(read_text_file(folder + "/" + renamed), other.cubin);
  EXPECT_EQ(listing().size(), 3U) << "the old files are gone";
  std::ofstream(folder + "/bundle.json") << "{}";
  EXPECT_THAT(run("--bundle out").err, HasSubstr("bundle.json"));
}

}  // namespace
}  // namespace evo
