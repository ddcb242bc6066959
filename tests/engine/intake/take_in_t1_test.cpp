// Tests the drafts that evo-init makes from a CUDA file and a T1 file, with NVRTC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/space/space.hpp"
#include "tests/engine/intake/take_in_fixture.hpp"

namespace evo {
namespace {

using testing::Contains;
using testing::HasSubstr;

Json convolution_t1() {
  return Json::parse(R"json({
    "ConfigurationSpace": {
      "TuningParameters": [
        {"Name": "block_size_x", "Type": "int", "Values": "[16, 32, 64]", "Default": 16},
        {"Name": "tile", "Type": "int", "Values": "[1, 2]", "Default": 3},
        {"Name": "idle", "Type": "int", "Values": "[0, 1]", "Default": 1},
        {"Name": "WIDTH", "Type": "int", "Values": "[8]"},
        {"Name": "taps", "Type": "int", "Values": "[3, 5]", "Default": 5}],
      "Conditions": [
        {"Expression": "idle == 0 or block_size_x > 16", "Parameters": []},
        {"Expression": "block_size_x in sizes", "Parameters": []}]},
    "KernelSpecification": {
      "Language": "CUDA", "CompilerOptions": ["-std=c++17", "-lineinfo", "-Dtile=7", "--keep"],
      "KernelName": "blur", "ProblemSize": [4096], "GridDivX": ["block_size_x", "tile"],
      "GlobalSize": {"X": "4096"}, "LocalSize": {"X": "block_size_x", "Y": "rows"},
      "SharedMemory": 64,
      "Arguments": [
        {"Name": "o", "Type": "float", "MemoryType": "Vector", "FillType": "Constant",
         "FillValue": 0, "Size": "ProblemSize[0]"},
        {"Name": "i", "Type": "float", "MemoryType": "Vector", "FillType": "Random",
         "FillValue": 4, "Size": "ProblemSize[0] + max(taps) - min(taps)*idle"},
        {"Name": "n", "Type": "float", "MemoryType": "Scalar", "FillValue": 4096},
        {"Name": "weights", "Type": "float", "MemType": "Constant", "MemoryType": "Vector",
         "FillType": "Constant", "FillValue": 0.5},
        {"Name": "missing", "Type": "float", "MemoryType": "Symbol"},
        {"Name": "more", "Type": "float", "MemoryType": "Vector"}]}})json");
}

constexpr const char* kBlur =
    "#define WIDTH 4096\n__constant__ float weights[8];\n"
    "__global__ void other() {}\n"
    "__global__ void blur(float *out, float *in, int n) {\n"
    "  int i = (blockIdx.x * block_size_x + threadIdx.x) * tile;\n"
    "  float sum = 0;\n  for (int t = 0; t < taps; ++t) sum += in[i + t] * weights[t];\n"
    "  if (i < WIDTH) out[i] = sum;\n}\n";

TEST_F(TakeIn, AT1FileFillsIn) {
  const Intake intake = take(kBlur, convolution_t1());
  const Json found = problem(intake);
  EXPECT_EQ(found["arguments"][0]["extent"], "N_X");
  EXPECT_EQ(found["arguments"][1]["extent"], "N_X + 5 - 3*1");
  EXPECT_EQ(found["arguments"][1]["generator"],
            Json::parse(R"({"distribution": "uniform", "low": 0, "high": 4})"));
  EXPECT_EQ(found["arguments"][3]["generator"]["value"], 0.5);
  EXPECT_EQ(found["shapes"]["default"]["variables"]["N_X"], 4096);
  EXPECT_EQ(found["templates"]["k"]["grid"], Json({"ceil_div(N_X, block_size_x * tile)"}));
  EXPECT_EQ(found["templates"]["k"]["block"], Json({"block_size_x"}));
  EXPECT_FALSE(found.contains("bytes"))
      << "without the key 'bytes', evo-tune assumes that each buffer is read or written once";
}

TEST_F(TakeIn, RandomFillsHaveTwoEnds) {
  Json t1 = convolution_t1();
  Json& in = t1["KernelSpecification"]["Arguments"][1];
  in["MinValue"] = -2;
  in["MaxValue"] = "2.5";
  in["FillType"] = "random";
  EXPECT_EQ(problem(take(kBlur, t1))["arguments"][1]["generator"],
            Json::parse(R"({"distribution": "uniform", "low": -2, "high": 2.5})"));
}

TEST_F(TakeIn, WhatAT1FileSaysWronglyIsLeftOutAndSaid) {
  const Intake intake = take(kBlur, convolution_t1());
  const Json made = space(intake);
  EXPECT_EQ(made["compiler_options"], Json({"--std=c++17", "--generate-line-info"}));
  EXPECT_EQ(made["let"], Json::parse(R"({"idle": 1})"));
  EXPECT_EQ(made["constraints"].size(), 1U);
  EXPECT_EQ(made["parameters"][0]["default"], 32)
      << "32 is the valid value nearest to the given default";
  const auto& said = intake.draft.left_out;
  for (const char* text :
       {"parameter idle: neither the source nor the launch reads it; in expressions, it is "
        "replaced",
        "parameter WIDTH: k.cu:1: #define WIDTH", "default of tile: 3 is not in its list of values",
        "condition block_size_x in sizes", "compiler option -Dtile=7", "compiler option --keep",
        "LocalSize rows", "GlobalSize 4096: by default 4096 CTAs in x",
        "SharedMemory 64: the kernel has no extern", "argument n: a scalar float where the kernel",
        "argument missing: the kernel reads no __constant__", "argument more: the kernel has no",
        "default of block_size_x: 16 breaks a constraint"}) {
    EXPECT_THAT(said, Contains(HasSubstr(text)));
  }
  EXPECT_NO_THROW(Space(parse_space(intake.files.at(2).text, "k.json")));
}

TEST_F(TakeIn, WholeDivisionsInConditionsAreNoComments) {
  Json t1 = convolution_t1();
  t1["ConfigurationSpace"]["Conditions"] =
      Json::parse(R"([{"Expression": "block_size_x // idle > 16", "Parameters": []}])");
  const Intake intake = take(kBlur, t1);
  EXPECT_EQ(space(intake)["let"], Json::parse(R"({"idle": 1})"));
  EXPECT_NO_THROW(Space(parse_space(intake.files.at(2).text, "k.json")));
}

TEST_F(TakeIn, WithoutAProblemSizeTheGridIsTheGlobalSize) {
  Json t1 = convolution_t1();
  t1["KernelSpecification"].erase("ProblemSize");
  t1["KernelSpecification"]["GlobalSizeType"] = "OpenCL";
  t1["KernelSpecification"]["GlobalSize"]["X"] = "4096 // tile";
  const Intake intake = take(kBlur, t1);
  EXPECT_EQ(problem(intake)["templates"]["k"]["grid"],
            Json({"ceil_div(4096 // tile, block_size_x)"}));
  EXPECT_TRUE(problem(intake)["shapes"]["default"]["variables"].empty());
}

TEST_F(TakeIn, TheCommandLineComesBeforeTheT1File) {
  request_.parameters = {{"block_size_x", "128,256"}};
  request_.constraints = {"block_size_x * tile <= 256"};
  const Intake intake = take(kBlur, convolution_t1());
  const Json made = space(intake);
  EXPECT_EQ(made["constraints"].size(), 2U);
  EXPECT_EQ(made["parameters"].back()["values"], Json({128, 256}));
  request_.constraints = {"tiles == 1"};
  EXPECT_THAT(refusal(kBlur), HasSubstr("--constraint tiles == 1"));
  request_.constraints = {};
  request_.parameters = {{"tile", "["}};
  EXPECT_THAT(refusal(kBlur), HasSubstr("--param tile: "));
  request_.parameters = {{"WIDTH", "1"}};
  EXPECT_THAT(refusal(kBlur), HasSubstr("#define WIDTH"));
}

}  // namespace
}  // namespace evo
