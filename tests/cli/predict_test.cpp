// Tests the program evo-predict with NVRTC and a virtual GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class EvoPredict : public testing::Test {
 protected:
  [[nodiscard]] ProgramResult predict(const std::string& arguments) const {
    return run_program("evo-predict " + arguments, source_folder().string());
  }
  sample::TemporaryFolder folder_;
};

TEST_F(EvoPredict, RanksCandidatesOfARecording) {
  const std::string file = (folder_.path() / "scores.json").string();
  const ProgramResult ranked = predict(
      "rank search_spaces/row_softmax_h200.json tests/recorded/h200/row_softmax.json.gz --count 12 "
      "--json " +
      file);
  ASSERT_EQ(ranked.exit_code, 0) << ranked.err;
  EXPECT_THAT(ranked.out, AllOf(HasSubstr("measured on NVIDIA H200, predicted for virtual:h200"),
                                HasSubstr("Spearman"), HasSubstr("Kendall")));
  const json scores = json::parse(read_text_file(file));
  EXPECT_EQ(scores["score"]["kernels"], 12);
  EXPECT_GT(scores["score"]["spearman"], 0.5);
  ASSERT_EQ(scores["candidates"].size(), 12U);
  for (const json& candidate : scores["candidates"]) {
    EXPECT_GT(candidate["measured_us"], 0);
    EXPECT_GT(candidate["predicted_us"], 0);
    EXPECT_EQ(candidate["from"], "machine code");
    EXPECT_TRUE(candidate["config"].contains("THREADS_PER_ROW"));
  }
}

TEST_F(EvoPredict, ExplainsByLineOfTheSourceWhatWarpsWaitFor) {
  const ProgramResult explained =
      predict("explain search_spaces/row_softmax_h200.json --lines 100 --json");
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  const json launch = json::parse(explained.out)["launches"].at(0);
  EXPECT_EQ(launch["from"], "machine code");
  double waits = 0;
  for (const auto& [reason, share] : launch["waits"].items()) waits += share.get<double>();
  EXPECT_NEAR(waits, 1, 1e-9);
  // This softmax moves 32 MB and is bound by memory, so evo-predict must attribute more than 30 %
  // of the waiting time of its warps to global memory.
  EXPECT_GT(launch["waits"]["global memory"], 0.3);
  double lines = 0;
  double last = 1;
  for (const json& line : launch["lines"]) {
    EXPECT_LE(line["share"], last);
    last = line["share"];
    lines += last;
  }
  EXPECT_NEAR(lines, 1, 1e-9);
  EXPECT_THAT(predict("explain search_spaces/row_softmax_h200.json --lines 3").out,
              AllOf(HasSubstr("PREDICTED"), HasSubstr(".cu")));
}

TEST_F(EvoPredict, CompilesAKernelLikeEvoTune) {
  namespace fs = std::filesystem;
  for (const char* name : {"kernel_templates", "search_spaces"}) {
    fs::copy(source_folder() / name, folder_.path() / name, fs::copy_options::recursive);
  }
  const std::string space = (folder_.path() / "search_spaces/row_softmax_h200.json").string();
  std::ofstream kernel(folder_.path() / "kernel_templates/row_softmax/row_softmax.cu",
                       std::ios::app);
  kernel << "\nint main() { return 0; }\n"  // host code
         << "#include <cuda_fp16.h>\n"      // a header of the toolkit
         << "__device__ __half half_of(float value) { return __float2half(value); }" << std::endl;
  const ProgramResult explained = predict("explain " + space);
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  kernel << "#error broken" << std::endl;
  EXPECT_THAT(predict("explain " + space).err, HasSubstr("broken"));
  const ProgramResult ranked =
      predict("rank " + space + " tests/recorded/h200/row_softmax.json.gz --count 2");
  EXPECT_EQ(ranked.exit_code, 2);
  EXPECT_THAT(ranked.err, AllOf(HasSubstr("none of the 2 recorded candidates"),
                                HasSubstr("next step: evo-predict explain")));
}

TEST_F(EvoPredict, AKernelWithAConstantIsPredictedLikeItsRecording) {
  std::ofstream(folder_.path() / "k.cu") << "__constant__ float c[4];\n"
                                            "__global__ void k(const float* x, float* y, int n) {\n"
                                            "  int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                                            "  if (i < n) y[i] = c[i % 4] * x[i];\n}\n";
  const auto run = [&](const std::string& command) {
    const ProgramResult result = run_program(command, folder_.path().string());
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
    return result.out;
  };
  run("evo-init k.cu --param BLOCK=64,128 --size n=10000");
  run("evo-record --count all --out r.json --device virtual:l4 --space search_spaces/k.json");
  EXPECT_THAT(run("evo-predict explain search_spaces/k.json --device virtual:l4"),
              HasSubstr("PREDICTED 1."));
  EXPECT_THAT(run("evo-predict rank search_spaces/k.json r.json"),
              AllOf(HasSubstr("recorded times are PREDICTED for virtual NVIDIA L4, predicted for "
                              "virtual:l4; 2 candidates"),
                    HasSubstr("0 without a prediction"), HasSubstr("median error 0 %")));
  const ProgramResult other =
      predict("rank search_spaces/row_softmax_h200.json " + (folder_.path() / "r.json").string());
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("none of the 2 recorded candidates"),
                               HasSubstr("is a configuration of search_spaces/row_softmax_h200"),
                               HasSubstr("BLOCK"), HasSubstr("name the space of the recording")));
}

TEST_F(EvoPredict, ADeviceWithoutAModelIsNamed) {
  const ProgramResult ranked = predict(
      "rank search_spaces/sdpa_fp8_mma_h200.json tests/recorded/h100/mma_mission.json.gz --count "
      "1");
  EXPECT_EQ(ranked.exit_code, 0) << ranked.err;
  EXPECT_THAT(ranked.err, AllOf(HasSubstr("no virtual GPU of the recorded 'NVIDIA H100 80GB HBM3'"),
                                HasSubstr("virtual:h200")));
}

TEST_F(EvoPredict, BadUseNamesWhatIsAllowed) {
  EXPECT_EQ(predict("").exit_code, 2);
  const ProgramResult set = predict("explain search_spaces/row_softmax_h200.json --set VECTOR=3");
  EXPECT_EQ(set.exit_code, 2);
  EXPECT_THAT(set.err, HasSubstr("VECTOR"));
  const ProgramResult device = predict(
      "rank search_spaces/row_softmax_h200.json tests/recorded/h200/row_softmax.json.gz --device "
      "virtual:gtx");
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.err, HasSubstr("virtual:h200"));
}

}  // namespace
}  // namespace evo
