// Tests that evo-export makes a bundle from a database, and that the example program loads the
// bundle and launches its kernel. The GPU is fake (fake_cuda.cpp).

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
using testing::Not;

/// A kernel of the problem sdpa_fp8, which was checked on two shapes and tuned for the first one.
class UseBundle : public testing::Test {
 protected:
  UseBundle() : manifest_(read_json_file(EVO_SOURCE_DIR "/tests/examples/manifest.json")) {
    manifest_["macros"] = Json::object();
    manifest_["valid"] = {{{"expression", "(CAUSAL) == 1"}, {"why", "compiled with CAUSAL=1"}}};
  }

  /// Stores the kernel in a database and exports it as the bundle "b". `in_elite`: false for a
  /// kernel that no elite has, and that evo-export can only find by its number.
  ProgramResult put(bool in_elite = true, const std::string& options = "") {
    RunInfo info = sample::run_info();
    info.problem.name = "sdpa_fp8";
    Json one = {{"B", 1}, {"H", 1}, {"HKV", 1}, {"LQ", 1}, {"LKV", 1}, {"D", 64}, {"CAUSAL", 1}};
    one.update({{"PER_HEAD", 0}, {"LSE", 0}});
    const Json shapes = {{"ragged", {{"variables", manifest_["shape"]["variables"]}}},
                         {"one", {{"variables", one}}}};
    info.problem.text = Json({{"shapes", shapes}}).dump();
    info.shape = "ragged";
    Store store = Store::open(folder_.path() / "evo.db");
    const RunId run = store.start_run(info);
    EvaluationRecord record =
        sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10);
    record.checks = {{.shape = "ragged"}, {.shape = "one"}};
    record.manifest_json = manifest_.dump();
    const CandidateId best = store.record_evaluation(run, record);
    if (in_elite) {
      store.record_generation(run, {.number = 0, .elite = {best}});
    }
    return run_program("evo-export --db evo.db --bundle b " + options, folder_.path());
  }

  /// Runs the example program with the fake driver. `fault`: the value of FAKE_CUDA_FAULT (see
  /// fake_cuda.cpp).
  ProgramResult use(const std::string& options, const std::string& fault = "") const {
    const std::string environment =
        "env LD_LIBRARY_PATH=" EVO_FAKE_CUDA_DIR " FAKE_CUDA_FAULT=" + fault + " ";
    return run_program("example_use_bundle b " + options, folder_.path(), environment);
  }

  Json manifest_;
  sample::TemporaryFolder folder_;
};

TEST_F(UseBundle, LaunchesFromTwoThreadsAndFindsItRight) {
  const ProgramResult exported = put();
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const ProgramResult all = use("--bursts 1 1,1,64,1,1,1,1,0,0 1,1,64,2,1,29,37,0,1");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("thread 0: 1,1,64,2,1,29,37,0,1: copy_h200_ragged: right"),
                             HasSubstr(", 12 rows"), HasSubstr("thread 1: "),
                             HasSubstr("tuned for this shape: ragged"),
                             HasSubstr("ns by cuLaunchKernel alone")));
  const ProgramResult tuned = use("--bursts 0");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("1,1,64,2,1,29,37,0,1"), Not(HasSubstr("alone"))));
  EXPECT_EQ(use("1,2").exit_code, 2);
}

TEST_F(UseBundle, OtherSizesAreRefusedUnlessTheyAreAllowed) {
  ASSERT_EQ(put().exit_code, 0);
  const std::string larger = " 2,1,64,4,2,50,70,0,1";
  EXPECT_THAT(use("--bursts 0" + larger).err, HasSubstr("was not checked"));
  std::string allowed = "--bursts 0";
  for (const char* variable : {"B", "H", "HKV", "LQ", "LKV"}) {
    allowed += std::string(" --allow ") + variable;
  }
  const ProgramResult other = use(allowed + larger);
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, AllOf(HasSubstr(": right"), HasSubstr("nearest shape")));
  const ProgramResult invalid = use("--bursts 0 2,0,64,4,2,50,70,0,1");
  EXPECT_EQ(invalid.exit_code, 3);
  EXPECT_THAT(invalid.err, HasSubstr("'(CAUSAL) == 1' does not hold: compiled with CAUSAL=1"));
}

/// The manifest lists the arguments in the reverse order of the parameters, but each step names
/// them in the right order.
TEST_F(UseBundle, LaunchesTheStepsThatRun) {
  Json names = Json::array();
  for (const Json& argument : manifest_["arguments"]) names.push_back(argument["name"]);
  std::reverse(manifest_["arguments"].begin(), manifest_["arguments"].end());
  Json step = {{"entry", manifest_["entry"]}, {"runs", true}, {"arguments", names}};
  step["launch"] = manifest_["launch"];
  Json left_out = step;
  left_out["runs"] = false;
  left_out["when"] = {{"expression", "LSE == 1"}};
  left_out["launch"]["block"] = {{{"expression", "64"}}};  // the fake driver rejects 64
  manifest_["steps"] = {left_out, step, step};
  manifest_.erase("entry");
  manifest_.erase("launch");
  const ProgramResult exported = put();
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const ProgramResult result = use("--bursts 0");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(": right"));
}

TEST_F(UseBundle, FindsAWrongKernelWrong) {
  ASSERT_EQ(put().exit_code, 0);
  for (const char* fault : {"wrong", "nan"}) {
    const ProgramResult result = use("--bursts 0", fault);
    EXPECT_EQ(result.exit_code, 1) << fault;
    EXPECT_THAT(result.out, HasSubstr("WRONG")) << fault;
  }
}

TEST_F(UseBundle, SaysWhenTheGpuCannotRunIt) {
  ASSERT_EQ(put().exit_code, 0);
  const ProgramResult older = use("--bursts 0", "arch");
  EXPECT_EQ(older.exit_code, 3);
  EXPECT_THAT(
      older.err,
      AllOf(HasSubstr("on NVIDIA H200 (sm_80)"),
            HasSubstr("neither the kernel's machine code nor its PTX runs on this device")));
  std::ofstream(folder_.path() / "b" / "copy_h200_ragged.cubin") << "not machine code";
  const ProgramResult broken = use("--bursts 0");
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("is not the file that was checked"));
}

TEST_F(UseBundle, RefusesOtherFiles) {
  ASSERT_EQ(put().exit_code, 0);
  std::ofstream(folder_.path() / "b" / "bundle.json") << R"({"format": "something else"})";
  const ProgramResult result = use("--bursts 0");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("bundle.json: was damaged"));
  EXPECT_EQ(run_program("example_use_bundle", folder_.path()).exit_code, 2);
}

TEST_F(UseBundle, HasOneCandidateAloneWhereItIsAskedFor) {
  EXPECT_EQ(put(false).exit_code, 1);
  const ProgramResult exported =
      run_program("evo-export --db evo.db --bundle b --candidate 1", folder_.path());
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, HasSubstr("candidate 1 was in no elite"));
  const ProgramResult result = use("--bursts 0");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("copy_h200_ragged: right"));
}

}  // namespace
}  // namespace evo
