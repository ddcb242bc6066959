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

TEST_F(RunCubin, RefusesOtherFiles) {
  std::ofstream(folder_.path() / "k.json") << R"({"format": "something else"})";
  const ProgramResult result = launch();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("not a kernel exported by evo-tune"));
  EXPECT_EQ(run_program("example_run_cubin", folder_.path()).exit_code, 2);
}

}  // namespace
}  // namespace evo
