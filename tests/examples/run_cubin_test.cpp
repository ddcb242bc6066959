// From the database through evo-export to a launched kernel, on a fake GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunCubin : public testing::Test {
 protected:
  void SetUp() override { put(read_text_file(EVO_SOURCE_DIR "/tests/examples/manifest.json")); }

  /// An export of a candidate with this manifest.
  void put(const std::string& manifest) {
    RunInfo info = sample::run_info();
    info.problem.name = "sdpa_fp8";
    Store store = Store::open(folder_.path() / "evo.db");
    const RunId run = store.start_run(info);
    EvaluationRecord record =
        sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10);
    record.manifest_json = manifest;
    store.record_evaluation(run, record);
    const ProgramResult exported = run_program("evo-export --out . --name k", folder_.path());
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
  }

  /// Runs the example with the fake driver. `fault`: see fake_cuda.cpp.
  ProgramResult launch(const std::string& fault = "") const {
    const std::string environment =
        "env LD_LIBRARY_PATH=" EVO_FAKE_CUDA_DIR " FAKE_CUDA_FAULT=" + fault + " ";
    return run_program("example_run_cubin k.json 2", folder_.path(), environment);
  }

  sample::TemporaryFolder folder_;
};

TEST_F(RunCubin, LaunchesAnExportAndFindsItRight) {
  const ProgramResult result = launch();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("sdpa_fp8 ran"), HasSubstr("12 rows compared"),
                                HasSubstr(": right"), HasSubstr("us a launch")));
}

/// Steps take arguments by name, in an order of their own.
TEST_F(RunCubin, LaunchesTheStepsThatRun) {
  Json manifest = read_json_file(EVO_SOURCE_DIR "/tests/examples/manifest.json");
  Json names = Json::array();
  for (const Json& argument : manifest["arguments"]) names.push_back(argument["name"]);
  std::reverse(manifest["arguments"].begin(), manifest["arguments"].end());
  Json step = {{"entry", manifest["entry"]}, {"runs", true}, {"arguments", names}};
  step["launch"] = manifest["launch"];
  const Json left_out = {{"entry", "absent"}, {"runs", false}, {"arguments", {"q"}}};
  manifest["steps"] = {left_out, step, step};
  manifest.erase("entry");
  manifest.erase("launch");
  put(manifest.dump());
  const ProgramResult result = launch();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("sdpa_fp8 ran\nsdpa_fp8 ran"), HasSubstr(": right")));
}

TEST_F(RunCubin, FindsAWrongKernelWrong) {
  for (const char* fault : {"wrong", "nan"}) {
    const ProgramResult result = launch(fault);
    EXPECT_EQ(result.exit_code, 1) << fault;
    EXPECT_THAT(result.out, HasSubstr("WRONG")) << fault;
  }
}

TEST_F(RunCubin, SaysWhenTheGpuCannotRunIt) {
  const ProgramResult older = launch("arch");
  EXPECT_EQ(older.exit_code, 3);
  EXPECT_THAT(older.err, HasSubstr("the cubin is for sm_90, the GPU is sm_80"));

  std::ofstream(folder_.path() / "k.cubin") << "not machine code";
  const ProgramResult broken = launch();
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("cuModuleLoadData"));
}

/// The same kernel out of a bundle, on its own shape and on others.
TEST_F(RunCubin, ABundleIsUsedFromTwoThreads) {
  Json manifest = read_json_file(EVO_SOURCE_DIR "/tests/examples/manifest.json");
  manifest["macros"] = Json::object();
  manifest["valid"] = {{{"expression", "(CAUSAL) == 1"}, {"why", "compiled with CAUSAL=1"}}};
  RunInfo info = sample::run_info();
  info.problem.name = "sdpa_fp8";
  const Json shapes = {{"ragged", {{"variables", manifest["shape"]["variables"]}}},
                       {"one",
                        {{"variables",
                          {{"B", 1},
                           {"H", 1},
                           {"HKV", 1},
                           {"LQ", 1},
                           {"LKV", 1},
                           {"D", 64},
                           {"CAUSAL", 1},
                           {"PER_HEAD", 0},
                           {"LSE", 0}}}}}};
  info.problem.text = Json({{"shapes", shapes}}).dump();
  info.shape = "ragged";
  {
    Store store = Store::open(folder_.path() / "bundle.db");
    const RunId run = store.start_run(info);
    EvaluationRecord record =
        sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10);
    record.checks = {{.shape = "ragged"}, {.shape = "one"}};
    record.manifest_json = manifest.dump();
    const CandidateId best = store.record_evaluation(run, record);
    store.record_generation(run, {.number = 0, .elite = {{.candidate = best, .p50_us = 10}}});
  }
  const ProgramResult exported =
      run_program("evo-export --db bundle.db --bundle b", folder_.path());
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const auto use = [&](const std::string& more, const std::string& fault = "") {
    return run_program("example_use_bundle b " + more, folder_.path(),
                       "env LD_LIBRARY_PATH=" EVO_FAKE_CUDA_DIR " FAKE_CUDA_FAULT=" + fault + " ");
  };
  const ProgramResult all = use("--bursts 1 1,1,64,1,1,1,1,0,0 1,1,64,2,1,29,37,0,1");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("thread 0: 1,1,64,2,1,29,37,0,1: copy_h200_ragged: right"),
                             HasSubstr("thread 1: "), HasSubstr("tuned for this shape: ragged"),
                             HasSubstr("ns by cuLaunchKernel alone")));
  const std::string larger = " 2,1,64,4,2,50,70,0,1";
  EXPECT_THAT(use("--bursts 0" + larger).err, HasSubstr("was not checked"));
  std::string allowed = "--bursts 0";
  for (const char* variable : {"B", "H", "HKV", "LQ", "LKV"}) {
    allowed += std::string(" --allow ") + variable;
  }
  const ProgramResult other = use(allowed + larger);
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, AllOf(HasSubstr(": right"), HasSubstr("nearest shape")));
  EXPECT_EQ(use("--bursts 0", "wrong").exit_code, 1);
  const ProgramResult invalid = use("--bursts 0 2,0,64,4,2,50,70,0,1");
  EXPECT_EQ(invalid.exit_code, 3);
  EXPECT_THAT(invalid.err, HasSubstr("'(CAUSAL) == 1' does not hold: compiled with CAUSAL=1"));
  EXPECT_EQ(use("1,2").exit_code, 2);
}

TEST_F(RunCubin, RefusesOtherFiles) {
  std::ofstream(folder_.path() / "k.json") << R"({"format": "something else"})";
  const ProgramResult result = launch();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("not a kernel exported by evo-tune"));
  EXPECT_EQ(run_program("example_run_cubin", folder_.path()).exit_code, 2);
}

}  // namespace
}  // namespace evo
