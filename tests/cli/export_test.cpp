// Tests the program evo-export on databases that the tests fill with made-up runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EvoExport : public testing::Test {
 protected:
  ProgramResult run(const std::string& arguments) const {
    return run_program("evo-export " + arguments, folder_.path());
  }

  CandidateId add(RunId run, int position, const std::string& kernel, double p50_us) {
    return store_.record_evaluation(
        run, sample::green(0, position, store_.put_compilation(sample::compilation(kernel)), p50_us,
                           store_.run(run).info.device.time_kind));
  }

  std::string file(const std::string& name) const { return read_text_file(folder_.path() / name); }

  sample::TemporaryFolder folder_;
  Store store_ = Store::open(folder_.path() / "evo.db");
  RunId run_ = store_.start_run(sample::run_info());
};

TEST_F(EvoExport, WritesFourFilesThatBelongTogether) {
  add(run_, 0, "slow", 20);
  const CandidateId best = add(run_, 1, "fast", 10);
  const ProgramResult result = run("--out out/deep");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "out/deep/copy_h200_mission.cubin\nout/deep/copy_h200_mission.json\n"
            "out/deep/copy_h200_mission.ptx\nout/deep/copy_h200_mission.cu\n");
  const CompilationRecord compilation =
      store_.compilation(store_.compilation_id("key-fast").value());
  EXPECT_EQ(file("out/deep/copy_h200_mission.cubin"), compilation.cubin);
  EXPECT_EQ(file("out/deep/copy_h200_mission.ptx"), compilation.ptx);
  const json manifest = json::parse(file("out/deep/copy_h200_mission.json"));
  EXPECT_EQ(manifest["format"], "evo-tune kernel 1");
  EXPECT_EQ(manifest["entry"], "copy");
  EXPECT_EQ(manifest["arch"], "sm_90");
  EXPECT_EQ(manifest["cubin"], "copy_h200_mission.cubin");
  EXPECT_EQ(manifest["config"]["TILE"], 1);
  EXPECT_EQ(manifest["timing"]["kind"], "measured");
  EXPECT_EQ(manifest["timing"]["device"], "NVIDIA H200");
  EXPECT_EQ(manifest["timing"]["p50_us"], 10.0);
  EXPECT_EQ(manifest["timing"]["tflops"], 200.0);
  EXPECT_EQ(manifest["resources"]["dynamic_shared_bytes"], 4096);
  EXPECT_EQ(manifest["checks"].size(), 2U);
  EXPECT_EQ(manifest["build"]["cubin_key"], content_key(compilation.cubin));
  EXPECT_EQ(manifest["evo_tune"]["candidate"], best);
}

TEST_F(EvoExport, TheManifestNamesLaunchAttributes) {
  CompilationRecord compilation = sample::compilation("a");
  compilation.ptx = ".visible .entry copy() { griddepcontrol.wait; ret; }";
  store_.record_evaluation(
      run_, sample::green(0, 0, store_.put_compilation(compilation), 10, TimeKind::kMeasured));
  ASSERT_EQ(run("--out . --name x").exit_code, 0);
  const json manifest = json::parse(file("x.json"));
  EXPECT_EQ(manifest["launch"]["attributes"], json({"programmatic_stream_serialization"}));
  EXPECT_THAT(file("x.cu"),
              HasSubstr("// Launch attributes of copy: programmatic_stream_serialization\n"));
}

TEST_F(EvoExport, TheSourceIsSelfContained) {
  add(run_, 0, "a", 10);
  ASSERT_EQ(run("--out . --name x").exit_code, 0);
  const std::string source = file("x.cu");
  EXPECT_THAT(source, AllOf(HasSubstr("#define TILE 64\n#define SWIZZLE_XOR 2\n#define FLAG 1\n"),
                            HasSubstr("__global__ void copy()")));
  EXPECT_THAT(source, HasSubstr("nvcc -cubin -arch=sm_90 --use_fast_math -o x.cubin x.cu\n"));
  EXPECT_LT(source.find("#define FLAG"), source.find("__global__"));
}

TEST_F(EvoExport, ChoosesByRankRunAndCandidate) {
  const CandidateId slow = add(run_, 0, "slow", 20);
  add(run_, 1, "fast", 10);
  const RunId later = store_.start_run(sample::run_info(TimeKind::kPredicted));
  add(later, 0, "other", 5);
  const auto p50 = [&](const std::string& arguments) {
    const ProgramResult result = run(arguments + " --out . --name x");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(file("x.json"))["timing"]["p50_us"].get<double>();
  };
  EXPECT_EQ(p50("--run 1"), 10);
  EXPECT_EQ(p50("--run 1 --rank 2"), 20);
  EXPECT_EQ(p50("--device H200"), 10);
  EXPECT_EQ(p50(""), 5);
  EXPECT_EQ(p50("--candidate " + std::to_string(slow)), 20);
  EXPECT_THAT(run("--out .").err, HasSubstr("PREDICTED"));
  EXPECT_THAT(run("--out . --run 1").err, Not(HasSubstr("PREDICTED")));
}

TEST_F(EvoExport, WhatMayHavePassedOnlyAQuickCheckSaysSo) {
  const CandidateId best = add(run_, 0, "a", 10);
  const CandidateId other = add(run_, 1, "b", 20);
  EXPECT_THAT(run("--out .").err, HasSubstr("may have passed only a shortened check"));
  store_.record_generation(run_, {.number = 0, .elite = {best}});
  EXPECT_THAT(run("--out .").err, Not(HasSubstr("only_quick_check")));
  EXPECT_THAT(
      run("--out . --candidate " + std::to_string(other)).err,
      HasSubstr("candidate 2 was in no elite, so it may have passed only a shortened check"));
}

TEST_F(EvoExport, ADuplicateIsExportedAsTheKernelItIs) {
  const CandidateId first = add(run_, 0, "a", 10);
  const CandidateId copy = store_.record_evaluation(run_, sample::duplicate(0, 1, first));
  ASSERT_EQ(run("--out . --name x --candidate " + std::to_string(copy)).exit_code, 0);
  EXPECT_EQ(json::parse(file("x.json"))["evo_tune"]["candidate"], first);
}

TEST_F(EvoExport, NothingGreenIsExitCodeOneAndWritesNothing) {
  const ProgramResult result = run("--out out");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
}

TEST_F(EvoExport, BadUsageIsExitCodeTwoAndSaysWhatIsAllowed) {
  add(run_, 0, "a", 10);
  const CandidateId bad = store_.record_evaluation(
      run_, sample::rejected(0, 1, {.gate = Gate::kBuild, .reason = "no"}));
  EvaluationRecord bare = sample::green(0, 2, store_.put_compilation(sample::compilation("b")), 30);
  bare.manifest_json.clear();
  const CandidateId unlaunchable = store_.record_evaluation(run_, bare);
  const auto error = [&](const std::string& arguments) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    return result.err;
  };
  EXPECT_THAT(error(""), HasSubstr("--out"));
  EXPECT_THAT(error("--out o --rank 0"), HasSubstr("--rank"));
  EXPECT_THAT(error("--out o --rank 9"), HasSubstr("ranks 1 to 2"));
  EXPECT_THAT(error("--out o --db none.db"), HasSubstr("none.db"));
  EXPECT_THAT(error("--out evo.db/x"), HasSubstr("evo.db/x"));
  EXPECT_THAT(error("--out o --candidate " + std::to_string(bad)),
              HasSubstr("failed the build gate: no"));
  EXPECT_THAT(error("--out o --candidate " + std::to_string(unlaunchable)),
              HasSubstr("without a manifest"));
  EXPECT_FALSE(fs::exists(folder_.path() / "o"));
}

TEST_F(EvoExport, ReplacesOnlyWhatItWrote) {
  add(run_, 0, "a", 10);
  for (const char* mine : {"k.cu", "k.json"}) {
    const fs::path path = folder_.path() / mine;
    write_file(path, "mine");
    const ProgramResult refused = run("--out . --name k");
    EXPECT_EQ(refused.exit_code, 2) << mine;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(mine), HasSubstr("evo-export did not write it"),
                                   HasSubstr("name another folder or file")));
    EXPECT_EQ(file(mine), "mine");
    EXPECT_FALSE(fs::exists(folder_.path() / "k.cubin"))
        << "evo-export writes all four files or none";
    fs::remove(path);
  }
  EXPECT_EQ(run("--out . --name k").exit_code, 0);
  EXPECT_EQ(run("--out . --name k").exit_code, 0) << "evo-export replaces its own files";
  for (const char* option : {"--t4", "--kernel-tuner-cache"}) {
    const ProgramResult refused = run(std::string(option) + " evo.db");
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("evo.db"), HasSubstr("is a database")));
  }
  EXPECT_EQ(run("--out . --name k").exit_code, 0) << "the database is unchanged";
  const ProgramResult twice = run("--t4 r.json --kernel-tuner-cache ./r.json");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, AllOf(HasSubstr("--kernel-tuner-cache"), HasSubstr("the file of --t4")));
  EXPECT_FALSE(fs::exists(folder_.path() / "r.json"));
}

TEST_F(EvoExport, FileNamesStayInsideTheFolder) {
  add(run_, 0, "a", 10);
  ASSERT_EQ(run("--out . --name '../up/x y'").exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_.path() / "_._up_x_y.cubin"));
}

}  // namespace
}  // namespace evo
