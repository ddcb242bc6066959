// Tests evo-init's options about a problem (sizes, launch, inputs, …), and the results of running
// the kernel on the virtual GPU with these options.

#include "engine/intake/given.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/placeholder.hpp"
#include "engine/intake/intake.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class GivenOfAKernel : public testing::Test {
 protected:
  GivenOfAKernel() { request_.parameters = {{"BLOCK", "64,128,256"}}; }

  Intake take(const std::string& text) {
    write_file(folder_.path() / "k.cu", text);
    request_.kernel = folder_.path() / "k.cu";
    static const std::unique_ptr<Compiler> nvrtc = open_nvrtc();
    return take_in(request_, *nvrtc);
  }
  std::string refusal(const std::string& text) {
    try {
      (void)take(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  static Json problem(const Intake& intake) {
    return parse_json(intake.files.at(0).text, "problem.json");
  }
  static Json extent(const Intake& intake, std::size_t argument) {
    return problem(intake)["arguments"][argument]["extent"];
  }

  sample::TemporaryFolder folder_;
  IntakeRequest request_;
  Given& given_ = request_.given;
};

constexpr const char* kAdd =
    "__global__ void add(const float *x, float *y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] + 1;\n}\n";

TEST_F(GivenOfAKernel, OneSizeIsEnoughForAKernelOfOneSize) {
  given_.sizes = {{"n", "100000"}};
  given_.reference = "default";
  const Intake intake = take(kAdd);
  const Json found = problem(intake);
  EXPECT_TRUE(placeholders_in(found).empty()) << intake.files.at(0).text;
  EXPECT_EQ(found["arguments"][0]["extent"], "n");
  EXPECT_EQ(found["arguments"][1]["extent"], "n");
  EXPECT_EQ(found["arguments"][1]["direction"], "out");
  EXPECT_EQ(found["arguments"][2]["value"], "n");
  EXPECT_EQ(found["shapes"]["default"]["variables"]["n"], 100000);
  EXPECT_EQ(found["shapes"]["ragged"]["variables"]["n"], 1009);
  EXPECT_EQ(found["templates"]["k"]["block"], Json({"BLOCK"}));
  EXPECT_EQ(found["templates"]["k"]["grid"], Json({"ceil_div(n, BLOCK)"}));
  EXPECT_EQ(found["reference"]["set"]["BLOCK"], 64);
  EXPECT_EQ(found["tolerance"]["relative_l2"], 1e-5);
  EXPECT_EQ(intake.files.size(), 2U) << "evo-init writes no reference.py";
  EXPECT_THAT(
      intake.draft.assumed,
      AllOf(Contains(HasSubstr("BLOCK is the number of threads of a CTA")),
            Contains(HasSubstr("grid: ceil_div(n, BLOCK)")),
            Contains(HasSubstr("the default configuration is the reference")),
            Contains(HasSubstr("tolerance: chosen by the type")), Contains(HasSubstr("flops: 1"))));
  EXPECT_THAT(intake.draft.notes, Contains(AllOf(HasSubstr("measured on the virtual GPU with n="),
                                                 HasSubstr("\n  x: n elements\n  y: n elements"))));
}

TEST_F(GivenOfAKernel, AWorkspaceIsZeroAndIsRestoredAfterALaunchThatFails) {
  // A launch with too small a buffer fails before all CTAs have arrived at the barrier.
  given_.sizes = {{"n", "2000"}};
  given_.launches = {{"7", "BLOCK", ""}};
  given_.workspaces = {"barrier"};
  const Intake intake = take(
      "__global__ void f(const float *x, float *y, unsigned *barrier, int n) {\n"
      "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {\n"
      "    y[i] = x[n - 1 - i];\n  }\n"
      "  __syncthreads();\n"
      "  if (threadIdx.x == 0) {\n"
      "    const unsigned round = atomicAdd(&barrier[0], 1) / gridDim.x;\n"
      "    while (*(volatile unsigned *)&barrier[0] / gridDim.x == round) {}\n"
      "  }\n}\n");
  const Json found = problem(intake);
  const Json& arguments = found["arguments"];
  EXPECT_EQ(arguments[0]["extent"], "n");
  EXPECT_EQ(arguments[1]["extent"], "n");
  EXPECT_EQ(arguments[2]["direction"], "workspace");
  EXPECT_EQ(arguments[2]["extent"], 1);
  EXPECT_FALSE(arguments[2].contains("generator"));
}

TEST_F(GivenOfAKernel, WhatIsGivenStandsAsItIs) {
  given_.sizes = {{"rows", "512,33"}, {"n", "1024"}};
  given_.values = {{"a", "rows / 2"}};
  given_.launches = {{"rows, ceil_div(n, BLOCK)", "BLOCK, 1", ""}};
  given_.inputs = {{"x", "uniform:-1:0.5"}, {"index", "INDEX % rows"}};
  given_.scratch = {"parts"};
  given_.extents = {{"parts", "7*rows"}};
  given_.flops = "2*rows*n";
  given_.tolerance = "0.25";
  given_.reference = "program";
  const Intake intake = take(
      "__global__ void f(const float *x, const int *index, float *y, float *parts, float a, int n)"
      " {\n  int c = blockIdx.y * blockDim.x + threadIdx.x;\n"
      "  if (threadIdx.x == 0) parts[blockIdx.x * 7] = a;\n"
      "  if (c < n) y[blockIdx.x * n + c] = x[blockIdx.x * n + c] * index[blockIdx.x];\n}\n");
  const Json found = problem(intake);
  EXPECT_EQ(found["shapes"]["default"]["variables"], Json::parse(R"({"n": 1024, "rows": 512})"));
  EXPECT_EQ(found["shapes"]["size2"]["variables"], Json::parse(R"({"n": 1024, "rows": 33})"));
  EXPECT_EQ(found["shapes"].size(), 2U) << "evo-init adds no shapes to given sizes";
  const Json& arguments = found["arguments"];
  EXPECT_EQ(arguments[0]["extent"], "rows*n");
  EXPECT_EQ(arguments[0]["generator"],
            Json::parse(R"({"distribution": "uniform", "low": -1, "high": 0.5})"));
  EXPECT_EQ(arguments[1]["extent"], "rows");
  EXPECT_EQ(arguments[1]["generator"], Json::parse(R"({"formula": "INDEX % rows"})"));
  EXPECT_EQ(arguments[3]["extent"], "7*rows");
  EXPECT_EQ(arguments[3]["compare"], false);
  EXPECT_EQ(arguments[4]["value"], "rows / 2");
  EXPECT_EQ(found["templates"]["k"]["grid"], Json({"rows", "ceil_div(n, BLOCK)"}));
  EXPECT_EQ(found["templates"]["k"]["block"], Json({"BLOCK", 1}));
  EXPECT_EQ(found["flops"], "2*rows*n");
  EXPECT_EQ(found["tolerance"]["max_abs_error"], 0.25);
  EXPECT_TRUE(placeholders_in(found).empty());
  EXPECT_EQ(found["reference"]["program"][1], "reference.py");
}

TEST_F(GivenOfAKernel, WhatDependsOnInputsOrMacrosIsNotKnown) {
  given_.sizes = {{"n", "100000"}};
  const Intake gather = take(
      "__global__ void f(const float *x, const int *index, float *y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[index[i]];\n}\n");
  EXPECT_THAT(extent(gather, 0).get<std::string>(), HasSubstr("TODO: number of elements of x"));
  EXPECT_EQ(extent(gather, 1), "n");
  EXPECT_THAT(gather.draft.notes, Contains(HasSubstr("extent of x: the number of accessed elements "
                                                     "depends on the inputs")));
  const Intake bins = take(
      "__global__ void f(const unsigned *x, unsigned *bins, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) atomicAdd(&bins[x[i] >> 24], 1u);\n}\n");
  EXPECT_EQ(extent(bins, 0), "n");
  EXPECT_THAT(extent(bins, 1).get<std::string>(), HasSubstr("TODO"))
      << "evo-init only uses small numbers as inputs, and all of them fall into the first bin";
  const Intake partial = take(
      "__global__ void f(const float *x, float *parts, int n) {\n"
      "  int i = blockIdx.x * BLOCK + threadIdx.x;\n"
      "  if (threadIdx.x == 0) parts[blockIdx.x] = i < n ? x[i] : 0;\n"
      "  else if (i < n && x[i] == 77) parts[blockIdx.x] = 1;\n}\n");
  EXPECT_EQ(extent(partial, 0), "n");
  EXPECT_THAT(extent(partial, 1).get<std::string>(), HasSubstr("TODO"));
  EXPECT_THAT(partial.draft.notes, Contains(HasSubstr("extent of parts: the number of accessed "
                                                      "elements depends on macros")));
}

TEST_F(GivenOfAKernel, WhatFitsSmallSizesMustFitLargerOnes) {
  request_.parameters = {{"BLOCK", "1024"}};
  given_.sizes = {{"n", "100000"}};
  const Intake intake = take(
      "__global__ void f(const float *x, float *parts, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (threadIdx.x == 0) parts[blockIdx.x] = i < n ? x[n - 1] : 0;\n}\n");
  EXPECT_EQ(extent(intake, 0), "n");
  EXPECT_THAT(extent(intake, 1).get<std::string>(), HasSubstr("TODO"))
      << "with the small sizes, the grid has only one CTA";
  EXPECT_THAT(intake.draft.notes, Contains(HasSubstr("with larger sizes, it is no longer 1")));
}

TEST_F(GivenOfAKernel, AKernelForRoundSizesGetsASmallRoundShape) {
  given_.sizes = {{"n", "1048576"}};
  const Intake intake = take(
      "__global__ void f(const float4 *x, float4 *y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n / 4 + (n % 4 > 0)) y[i] = "
      "x[i];\n}\n");
  EXPECT_EQ(extent(intake, 0), "n");
  EXPECT_EQ(problem(intake)["shapes"]["small"]["variables"]["n"], 512);
  EXPECT_THAT(intake.draft.assumed,
              Contains(HasSubstr("supports only sizes that are multiples of a power of two")));
}

TEST_F(GivenOfAKernel, AnOutputWhoseBorderIsLeftAloneIsInout) {
  given_.sizes = {{"n", "100000"}};
  const std::string text =
      "__global__ void f(const float *x, float *y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1];\n}\n";
  const Intake intake = take(text);
  EXPECT_EQ(extent(intake, 0), "n");
  EXPECT_EQ(extent(intake, 1), "n");
  EXPECT_EQ(problem(intake)["arguments"][1]["direction"], "inout");
  EXPECT_EQ(problem(intake)["arguments"][1]["generator"]["distribution"], "normal");
  EXPECT_EQ(problem(intake)["templates"]["k"]["independent_ctas"], 1)
      << "the kernel does not read y";
  given_.extents = {{"y", "n"}};
  EXPECT_EQ(problem(take(text))["arguments"][1]["direction"], "inout");
  given_.launches = {{"floor_div(n, 32)", "32", ""}};
  given_.extents = {{"x", "n"}, {"y", "n"}};
  const std::string round =
      "__global__ void f(const float *x, float *y) {\n"
      "  int i = blockIdx.x * 32 + threadIdx.x;\n  y[i] = x[i];\n}\n";
  EXPECT_EQ(problem(take(round))["arguments"][1]["direction"], "out")
      << "the kernel supports only multiples of 32";
}

TEST_F(GivenOfAKernel, DynamicSharedMemoryIsMeasuredToo) {
  given_.sizes = {{"n", "100000"}};
  const Intake intake = take(
      "__global__ void f(const float *x, float *y, int n) {\n  extern __shared__ float s[];\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  s[threadIdx.x] = i < n ? x[i] : 0;\n"
      "  __syncthreads();\n  if (i < n) y[i] = s[blockDim.x - 1 - threadIdx.x];\n}\n");
  EXPECT_EQ(problem(intake)["templates"]["k"]["dynamic_shared_bytes"], "4*BLOCK");
}

TEST_F(GivenOfAKernel, AKernelThatCannotRunSaysWhatIsMissing) {
  given_.sizes = {{"n", "100000"}};
  const Intake intake = take(
      "__global__ void f(const float *x, float *y, int n, int stride) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i * stride];\n}\n");
  EXPECT_THAT(extent(intake, 0).get<std::string>(), HasSubstr("TODO"));
  EXPECT_THAT(intake.draft.notes,
              Contains(HasSubstr("this needs the value of stride (--value stride=…)")));
}

TEST_F(GivenOfAKernel, AnEnumerationIsAWholeNumber) {
  given_.sizes = {{"n", "100000"}};
  given_.values = {{"mode", "1"}};
  const Json found =
      problem(take("typedef enum { kPlain = 0, kTwice = 1 } Mode;\n"
                   "__global__ void f(const float *x, float *y, int n, Mode mode) {\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  if (i < n) y[i] = mode == kTwice ? 2 * x[i] : x[i];\n}\n"));
  EXPECT_EQ(found["arguments"][3]["dtype"], "i32");
  EXPECT_EQ(found["arguments"][3]["value"], 1);
  EXPECT_EQ(found["arguments"][0]["extent"], "n");
}

TEST_F(GivenOfAKernel, SumsOfAtomicsAreNotDeterministic) {
  given_.sizes = {{"n", "100000"}};
  const std::string sum =
      "__global__ void f(const T *x, T *y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) atomicAdd(y, x[i]);\n}\n";
  const Intake floats = take("typedef float T;\n" + sum);
  EXPECT_EQ(problem(floats)["templates"]["k"]["deterministic"], false);
  EXPECT_EQ(extent(floats, 1), 1);
  EXPECT_FALSE(problem(take("typedef int T;\n" + sum))["templates"]["k"].contains("deterministic"));
}

TEST_F(GivenOfAKernel, AnotherKernelOfTheFileIsTheReference) {
  const std::string two =
      std::string(kAdd) +
      "__global__ void slow(const float *x, float *y, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + 1;\n}\n"
      "__global__ void other(const float *x, float *y, int m) { *y = *x; }\n";
  request_.entry = "add";
  given_.sizes = {{"n", "100000"}};
  given_.reference = "slow";
  given_.reference_grid = "1";
  const Intake intake = take(two);
  const Json reference = problem(intake)["reference"];
  EXPECT_EQ(reference["source"], "k.cu");
  EXPECT_EQ(reference["entry"], "slow");
  EXPECT_EQ(reference["grid"], Json({1}));
  EXPECT_EQ(reference["block"], Json({"BLOCK"}));
  EXPECT_EQ(reference["macros"]["BLOCK"], 64);
  given_.reference = "other";
  EXPECT_THAT(refusal(two), AllOf(HasSubstr("--reference other: its parameters"),
                                  HasSubstr("int m"), HasSubstr("in the same order")));
}

constexpr const char* kTwoSteps =
    "__global__ void first(const float *x, float *parts, int n) {\n  float sum = 0;\n"
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "    sum += x[i];\n  parts[blockIdx.x * blockDim.x + threadIdx.x] = sum;\n}\n"
    "__global__ void second(const float *parts, float *y, int n) {\n  float sum = 0;\n"
    "  for (int i = 0; i < n; ++i) sum += parts[i];\n  *y = sum;\n}\n";

TEST_F(GivenOfAKernel, KernelsThatFollowEachOtherAreSteps) {
  request_.parameters.push_back({"CTAS", "4,8,16"});
  request_.entry = "first";
  request_.later_entries = {"second"};
  given_.sizes = {{"n", "100000"}};
  given_.renamed = {{"second.n", "count"}};
  given_.values = {{"count", "CTAS * BLOCK"}};
  given_.launches = {{"CTAS", "", ""}, {"1", "1", ""}};
  given_.reference = "default";
  const Intake intake = take(kTwoSteps);
  const Json found = problem(intake);
  EXPECT_TRUE(placeholders_in(found).empty()) << intake.files.at(0).text;
  ASSERT_EQ(found["arguments"].size(), 5U);
  EXPECT_EQ(found["arguments"][0]["extent"], "n");
  EXPECT_EQ(found["arguments"][1]["direction"], "workspace");
  EXPECT_EQ(found["arguments"][1]["extent"], "BLOCK*CTAS");
  EXPECT_FALSE(found["arguments"][1].contains("generator"));
  EXPECT_EQ(found["arguments"][3]["name"], "y");
  EXPECT_EQ(found["arguments"][4]["value"], "CTAS * BLOCK");
  const Json& kernel = found["templates"]["k"];
  EXPECT_EQ(kernel["steps"][0],
            Json::parse(R"({"entry": "first", "grid": ["CTAS"], "block": ["BLOCK"],
                            "arguments": ["x", "parts", "n"]})"));
  EXPECT_EQ(kernel["steps"][1], Json::parse(R"({"entry": "second", "grid": [1], "block": [1],
                                                "arguments": ["parts", "y", "count"]})"));
  EXPECT_FALSE(kernel.contains("entry"));
  EXPECT_FALSE(kernel.contains("independent_ctas"))
      << "independent_ctas is not allowed with several steps";
  EXPECT_THAT(
      intake.draft.assumed,
      Contains(HasSubstr("argument parts: one kernel writes it and a later kernel reads it")));
}

TEST_F(GivenOfAKernel, StepsWhoseNamesContradictAreRefused) {
  request_.entry = "f";
  request_.later_entries = {"g"};
  given_.sizes = {{"n", "1000"}};
  const std::string text =
      "__global__ void f(float *x, int n) { x[threadIdx.x] = n; }\n"
      "__global__ void g(const float *x, float *y, float n) { y[threadIdx.x] = x[threadIdx.x] * n; "
      "}\n";
  EXPECT_THAT(refusal(text),
              AllOf(HasSubstr("argument n: int in one kernel, float in a later kernel"),
                    HasSubstr("--rename KERNEL.PARAMETER=NAME")));
  given_.renamed = {{"g.m", "factor"}};
  EXPECT_THAT(refusal(text), HasSubstr("--rename g.m=factor: g has no such parameter"));
  given_.renamed = {{"g.n", "2x"}};
  EXPECT_THAT(refusal(text), HasSubstr("allowed: the name of an argument"));
  request_.later_entries.clear();
  EXPECT_THAT(refusal(text), HasSubstr("--rename: allowed only with several --entry"));
}

TEST_F(GivenOfAKernel, AStencilThatLeavesOutTheLastElementHasTheWholeGrid) {
  given_.sizes = {{"nx", "64"}, {"ny", "48"}};
  given_.launches = {{"ceil_div(nx, BLOCK), ny", "BLOCK", ""}};
  const Intake intake = take(
      "__global__ void f(const float *a, float *b, int nx, int ny) {\n"
      "  int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;\n"
      "  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)\n"
      "    b[y * nx + x] = a[y * nx + x - 1] + a[(y + 1) * nx + x] + a[(y - 1) * nx + x];\n}\n");
  EXPECT_EQ(extent(intake, 0), "nx*ny");
  EXPECT_EQ(extent(intake, 1), "nx*ny");
}

TEST_F(GivenOfAKernel, FieldsOfAStructureAreForTheUserToWrite) {
  const std::string text =
      "struct P { int cols; float scale; };\n"
      "__global__ void f(const float *x, float *y, P p) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < p.cols) y[i] = p.scale * x[i];\n}\n";
  given_.sizes = {{"cols", "768"}};
  EXPECT_EQ(problem(take(text))["shapes"]["default"]["variables"]["cols"], 768);
  given_.values = {{"p.cols", "cols"}};
  EXPECT_THAT(refusal(text),
              AllOf(HasSubstr("--value p.cols=cols: p is a structure"),
                    HasSubstr(R"("fields": [{"name": "cols", "dtype": "i32", "value": "cols"})")));
}

TEST_F(GivenOfAKernel, AMacroThatNothingUsesIsNoted) {
  given_.sizes = {{"n", "100000"}};
  request_.parameters.emplace_back("ZZZ", "1,2");
  const auto notes = take(kAdd).draft.notes;
  EXPECT_THAT(notes, Contains(HasSubstr("macro ZZZ: neither the source nor the launch uses it")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("macro BLOCK"))));
}

TEST_F(GivenOfAKernel, WhatHasNoPlaceIsRefused) {
  const auto refused = [&](auto change) {
    const IntakeRequest before = request_;
    given_.sizes = {{"n", "100000"}};
    change();
    const std::string text = refusal(kAdd);
    request_ = before;
    return text;
  };
  EXPECT_THAT(refused([&] {
                given_.sizes = {{"m", "5"}};
              }),
              AllOf(HasSubstr("--size m=5: no scalar parameter"), HasSubstr("its scalars are: n")));
  EXPECT_THAT(refused([&] { given_.sizes = {{"n", "0"}}; }), HasSubstr("whole numbers from 1"));
  EXPECT_THAT(refused([&] {
                given_.sizes = {{"n", "5,6"}, {"m", "1,2,3"}};
              }),
              HasSubstr("another size has 2 values; allowed: 1 or 2 values"));
  EXPECT_THAT(refused([&] {
                given_.sizes = {{"BLOCK", "5"}};
              }),
              HasSubstr("a macro of the space has this name"));
  EXPECT_THAT(refused([&] {
                given_.values = {{"x", "5"}};
              }),
              HasSubstr("--value x: the kernel has no scalar of this name; it has: n"));
  EXPECT_THAT(refused([&] { given_.extents = {{"z", "5"}}; }), HasSubstr("it has: x, y"));
  EXPECT_THAT(refused([&] { given_.inputs = {{"y", "normal:0:1"}}; }), HasSubstr("it has: x"));
  EXPECT_THAT(refused([&] { given_.inputs = {{"x", "normal:0"}}; }), HasSubstr("normal:MEAN:STD"));
  EXPECT_THAT(refused([&] {
                given_.inputs = {{"x", "normal:0:b"}};
              }),
              HasSubstr("'b' is not a number"));
  EXPECT_THAT(refused([&] { given_.tolerance = "-1"; }),
              HasSubstr("--tolerance -1: allowed: a number from 0"));
  EXPECT_THAT(refused([&] { given_.scratch = {"x"}; }), HasSubstr("no output of this name"));
  EXPECT_THAT(refused([&] {
                given_.launches = {{"n,2,3,4", "", ""}};
              }),
              HasSubstr("1 to 3 expressions"));
  EXPECT_THAT(refused([&] {
                given_.launches = {{"m", "", ""}};
              }),
              HasSubstr("which are: n, BLOCK"));
  EXPECT_THAT(refused([&] {
                given_.launches = {{"n +", "", ""}};
              }),
              HasSubstr("--grid: bad expression 'n +'"));
  EXPECT_THAT(refused([&] { given_.reference = "none"; }), Not(HasSubstr("nothing was refused")));
}

}  // namespace
}  // namespace evo
