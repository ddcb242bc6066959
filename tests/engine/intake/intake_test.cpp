// Tests the drafts of problem and space files that evo-init makes from CUDA files, with NVRTC.

#include "engine/intake/intake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/placeholder.hpp"
#include "tests/engine/intake/take_in_fixture.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSaxpy =
    "__global__ void saxpy(float *y, const float *x, float a, int n) {\n"
    "  int i = blockIdx.x * block_size_x + threadIdx.x;\n"
    "  if (i < n) y[i] += a * x[i];\n}\n";

TEST_F(TakeIn, DefaultsThatKernelTunerSwitchesOffAreNoObstacle) {
  request_.parameters = {{"block_size_x", "64,128"}};
  const std::string defaults = "#ifndef kernel_tuner\n#define block_size_x 16\n#endif\n";
  const Intake found = take(defaults + kSaxpy);
  EXPECT_EQ(space(found)["parameters"][0]["macro"], "block_size_x");
  EXPECT_EQ(space(found)["compiler_options"], Json({"-Dkernel_tuner=1"}));
  EXPECT_THAT(refusal("#ifndef my_tuner\n#define block_size_x 16\n#endif\n" + std::string(kSaxpy)),
              HasSubstr("k.cu:2: #define block_size_x"));
}

TEST_F(TakeIn, DirectionsTypesAndWhatIsToBeWritten) {
  request_.parameters = {{"block_size_x", "64,128"}};
  const Json found = problem(take(kSaxpy));
  EXPECT_EQ(found["arguments"][0]["direction"], "inout");
  EXPECT_EQ(found["arguments"][0]["generator"]["distribution"], "normal");
  EXPECT_EQ(found["arguments"][1]["direction"], "in");
  EXPECT_EQ(found["arguments"][2]["direction"], "scalar");
  EXPECT_EQ(found["arguments"][2]["dtype"], "f32");
  EXPECT_EQ(found["arguments"][3]["value"], "TODO: value of n");
  const Json& kernel = found["templates"]["k"];
  EXPECT_EQ(kernel["block"], Json({"block_size_x"}));
  EXPECT_EQ(kernel["grid"][0], "TODO: CTAs in x, such as ceil_div(N_X, block_size_x)");
  EXPECT_EQ(kernel["independent_ctas"], 0) << "the kernel reads and writes y";
  EXPECT_EQ(found["reference"]["program"], Json({"python3", "reference.py"}));
}

TEST_F(TakeIn, AMacroWithoutValuesIsToBeWritten) {
  const Intake intake = take(kSaxpy);
  EXPECT_THAT(intake.draft.notes, Contains(HasSubstr("block_size_x")));
  EXPECT_EQ(space(intake)["parameters"][0]["values"], "TODO: list of the values of block_size_x");
  EXPECT_THROW(require_finished(space(intake), "k.json"), InputError);
}

TEST_F(TakeIn, GuessesGoDownUntilTheKernelCompiles) {
  const Intake intake = take(
      "#if MODE == 1\n#define FACTOR 2\n#endif\n"
      "__global__ void f(int *c) { c[threadIdx.x] = FACTOR * OTHER; }\n");
  ASSERT_EQ(intake.draft.parameters.size(), 2U);
  EXPECT_THAT(intake.draft.notes, Contains(HasSubstr("MODE")));
  EXPECT_THAT(intake.draft.notes, Contains(HasSubstr("analysed with 1")));
}

TEST_F(TakeIn, WhatNeverCompilesAsksForValues) {
  EXPECT_THAT(refusal("__global__ void f(T *c) { c[0] = 1; }\n"),
              AllOf(HasSubstr("k.cu: does not compile with T=1"), HasSubstr("--param T=")));
  EXPECT_THAT(refusal("__global__ void f(int *c) { c[0] = ; }\n"),
              AllOf(HasSubstr("k.cu: does not compile"), Not(HasSubstr("--param"))));
}

TEST_F(TakeIn, AKernelThatWritesToNoArgumentIsSaidToHaveNoResult) {
  const std::string text = "__device__ int sum;\n__global__ void f(const int *x) { sum = x[0]; }\n";
  EXPECT_THAT(take(text).draft.notes, Contains(HasSubstr("does not write to its arguments")));
  EXPECT_THAT(take("__global__ void f(int *x) { *x = 1; }\n").draft.notes,
              Not(Contains(HasSubstr("does not write to its"))));
}

TEST_F(TakeIn, WhatOnlyTheHostCanCallIsNoMacro) {
  EXPECT_THAT(refusal("__global__ void f(int *c) { cudaMemcpyAsync(c, c, 4, 0, 0); }\n"),
              AllOf(HasSubstr("k.cu: does not compile"), HasSubstr("cudaMemcpyAsync"),
                    Not(HasSubstr("--param"))));
  EXPECT_THAT(refusal("__global__ void g(int *c) { *c = 1; }\n"
                      "__global__ void f(int *c) { g<<<1, 1>>>(c); }\n"),
              HasSubstr("more than one __global__ function"));
  request_.entry = "f";
  EXPECT_THAT(refusal("__global__ void g(int *c) { *c = 1; }\n"
                      "__global__ void f(int *c) { g<<<1, 1>>>(c); }\n"),
              HasSubstr("dynamic parallelism), which is not supported"));
}

TEST_F(TakeIn, OfSeveralKernelsOneIsNamed) {
  const std::string two =
      "__global__ void f(int *c) { *c = 1; }\n"
      "template <class T, int N> __global__ void g(T *c) { *c = N; }\n";
  EXPECT_THAT(refusal(two), HasSubstr("more than one __global__ function: f, g<…>"));
  EXPECT_THAT(refusal("int a;\n"), HasSubstr("no __global__ function"));
  request_.entry = "g";
  EXPECT_THAT(refusal(two), HasSubstr("g is a template"));
  request_.entry = "g<float, ITEMS>";
  request_.parameters = {{"ITEMS", "[1, 2]"}};
  const Intake intake = take(two);
  EXPECT_EQ(intake.draft.symbol, "_Z1gIfLi1EEvPT_");
  EXPECT_EQ(problem(intake)["arguments"][0]["dtype"], "f32");
}

TEST_F(TakeIn, EveryComparedValueIsLookedAt) {
  request_.parameters = {{"LOAD", "0,1"}};
  const Intake intake = take(
      "__constant__ float table[2][3];\n"
      "__global__ void f(float *c, float4 *a) {\n"
      "#if LOAD == 1\n  c[0] = a[0].x * table[0][1];\n#else\n  c[0] = 1;\n#endif\n}\n");
  const Json found = problem(intake);
  EXPECT_THAT(intake.draft.arguments[1].use, "loaded");
  EXPECT_EQ(found["arguments"][1]["extent"], "TODO: number of elements of a, 4 for each float4");
  const Json& table = found["arguments"][2];
  EXPECT_EQ(table["kind"], "constant");
  EXPECT_EQ(table["symbol"], "table");
  EXPECT_EQ(table["extent"], "(2)*(3)");
  EXPECT_FALSE(table.contains("direction"));
}

TEST_F(TakeIn, ScalarsOfFewBitsAreScalars) {
  const Json found = problem(take(
      "__global__ void f(int *o, short a, unsigned char b, bool c, char d, unsigned short e) {\n"
      "  o[0] = a + b + c + d + e; }\n"));
  std::vector<std::string> dtypes;
  for (std::size_t i = 1; i < 6; ++i) dtypes.push_back(found["arguments"][i]["dtype"]);
  EXPECT_THAT(dtypes, ElementsAre("i16", "u8", "u8", "i8", "u16"));
  EXPECT_THAT(problem(take("#include <cuda_fp8.h>\n"
                           "__global__ void f(float *o, __nv_fp8_e4m3 a) { o[0] = float(a); }\n"))
                  ["arguments"][1]["dtype"]
                      .get<std::string>(),
              HasSubstr("TODO: no dtype fits a"));
}

TEST_F(TakeIn, AKernelIsNamedWithItsNamespace) {
  const std::string text =
      "namespace img { namespace detail {\n"
      "__global__ void conv2d(int *o) { o[0] = TILE; }\n"
      "template <class T, int N> __global__ void gemm(T *o) { o[0] = N; }\n} }\n";
  request_.parameters = {{"TILE", "1,2"}};
  request_.entry = "conv2d";
  EXPECT_THAT(refusal(text), HasSubstr("--entry: unknown kernel 'conv2d'; did you mean "
                                       "'img::detail::conv2d'?"));
  request_.entry = "detail::conv2d";
  EXPECT_THAT(refusal(text), HasSubstr("did you mean 'img::detail::conv2d'?"));
  request_.entry = "gemm<float, TILE>";
  EXPECT_THAT(refusal(text), HasSubstr("did you mean 'img::detail::gemm<float, TILE>'?"));
  EXPECT_EQ(take(text + "using namespace img::detail;\n").draft.entry, "gemm<float, TILE>");
}

TEST_F(TakeIn, ScratchMemoryHasNoLineInTheReference) {
  request_.given.scratch = {"parts"};
  const std::string text =
      take("__global__ void f(float *parts, float *y) { parts[0] = 1; y[0] = 2; }\n")
          .files.at(1)
          .text;
  EXPECT_THAT(text, AllOf(HasSubstr("y = None  # TODO"), Not(HasSubstr("parts"))));
}

TEST_F(TakeIn, NamesOfValuesAreNoOpenMacros) {
  request_.parameters = {{"MODE", "RELU,MAX"}};
  const Intake found = take(
      "__global__ void f(float *o) {\n#if MODE == MODE_RELU\n  o[0] = 1;\n#else\n"
      "  o[0] = 2;\n#endif\n#ifdef OTHER\n  o[1] = 1;\n#endif\n}\n");
  std::vector<std::string> open;
  for (const auto& [name, unused] : found.macros.open) open.push_back(name);
  EXPECT_THAT(open, ElementsAre("OTHER"));
}

TEST_F(TakeIn, HeadersOutsideOfTheFolderAreRefused) {
  file("common.h", "#define ONE 1\n");
  file("src/k.cu", "#include \"../common.h\"\n__global__ void f(int *o) { o[0] = ONE; }\n");
  request_.kernel = folder_.path() / "src/k.cu";
  const auto refused = [&] {
    try {
      (void)take_in(request_, *compiler());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto outside = AllOf(HasSubstr("k.cu:1: #include \"../common.h\": lies outside of "),
                             HasSubstr("write #include \"common.h\" and give -I "));
  EXPECT_THAT(refused(), outside);
  request_.include_folders = {folder_.path() / "src"};
  EXPECT_THAT(refused(), outside) << "nothing is copied";
  file("src/k.cu", "#include \"common.h\"\n__global__ void f(int *o) { o[0] = ONE; }\n");
  EXPECT_THAT(refused(), HasSubstr("no such file"));
  request_.include_folders = {folder_.path()};
  EXPECT_EQ(refused(), "");
}

TEST_F(TakeIn, AMissingHeaderIsLookedForInFoldersOfTheUser) {
  const std::string kernel = "__global__ void f(int *o) { o[0] = 1; }\n";
  EXPECT_THAT(refusal("#include <a.h>\n" + kernel),
              AllOf(HasSubstr("a.h"), HasSubstr("-I FOLDER names")));
  EXPECT_THAT(
      refusal("#include \"a.h\"\n" + kernel),
      AllOf(HasSubstr("k.cu:1: #include \"a.h\": no such file"), HasSubstr("-I FOLDER names")));
}

TEST_F(TakeIn, IntegersAreComparedExactlyAndTheirInputsAreToBeWritten) {
  const Json found = problem(take("__global__ void f(int *c, unsigned char *a) { *c = *a; }\n"));
  EXPECT_EQ(found["tolerance"]["max_abs_error"], 0);
  EXPECT_THAT(found["arguments"][1]["generator"].get<std::string>(), HasSubstr("integers"));
}

TEST_F(TakeIn, WhatProblemsHaveNoTypeForIsSaid) {
  const Json found =
      problem(take("struct P { float x[2]; };\n"
                   "extern \"C\" __global__ void f(const float4 *c, P p, float **q, int *o) {\n"
                   "  o[0] = p.x[0] + q[0][0] + c[0].x; }\n"));
  EXPECT_EQ(found["arguments"][0]["extent"], "TODO: number of elements of c, 4 for each float4");
  EXPECT_EQ(found["arguments"][1]["dtype"],
            "TODO: no dtype fits p, whose C++ type is P, 8 bytes; a structure has "
            "\"fields\" in place of dtype and value");
  EXPECT_THAT(found["arguments"][2]["dtype"].get<std::string>(), HasSubstr("float**"));
}

TEST_F(TakeIn, RowsOfAPointerAreElements) {
  const Json found = problem(
      take("#define W 64\n__global__ void f(unsigned char (*in)[W], float out[][W], int first) {\n"
           "  out[blockIdx.x][threadIdx.x] = in[blockIdx.x][threadIdx.x + first]; }\n"));
  EXPECT_EQ(found["arguments"][0]["name"], "in");
  EXPECT_EQ(found["arguments"][0]["dtype"], "u8");
  EXPECT_EQ(found["arguments"][1]["dtype"], "f32");
  EXPECT_EQ(found["arguments"][2]["dtype"], "i32");
}

TEST_F(TakeIn, AConstantThatOnlyOtherValuesHaveHasItsType) {
  request_.parameters = {{"TABLE", "0,1"}};
  const Json found =
      problem(take("#if TABLE == 1\n__constant__ float table[5 * 5];\n#endif\n"
                   "__global__ void f(float *o) {\n#if TABLE == 1\n  o[0] = table[threadIdx.x];\n"
                   "#else\n  o[0] = 1;\n#endif\n}\n"));
  EXPECT_EQ(found["arguments"][1]["dtype"], "f32");
  EXPECT_EQ(found["arguments"][1]["extent"], "5*5");
}

TEST_F(TakeIn, ATextureObjectIsATexture) {
  const Intake intake = take(
      "__global__ void f(float *o, cudaTextureObject_t image) {\n"
      "  o[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.5f, blockIdx.x + 0.5f); }\n");
  const Json image = problem(intake)["arguments"][1];
  EXPECT_EQ(image["kind"], "texture");
  EXPECT_EQ(image["width"], "TODO: texels of a row");
  EXPECT_EQ(image["height"], "TODO: rows");
  EXPECT_EQ(image["dtype"], "TODO: type of a texel of image, such as f32");
  EXPECT_EQ(problem(intake)["templates"]["k"]["independent_ctas"], 1);
  EXPECT_THAT(intake.draft.notes, Contains(HasSubstr("normalized_coordinates")));
}

TEST_F(TakeIn, WhatNoArgumentIsIsNamedAsNotSupported) {
  const auto dtype_of = [&](const std::string& text) {
    return problem(take(text))["arguments"][1]["dtype"].get<std::string>();
  };
  EXPECT_EQ(dtype_of("__global__ void f(float *o, cudaSurfaceObject_t s) {\n"
                     "  o[threadIdx.x] = surf2Dread<float>(s, threadIdx.x * 4, 0); }\n"),
            "TODO: not supported: surfaces and textures that are not of one or two dimensions, "
            "such as s");
  EXPECT_EQ(dtype_of("struct P { const float *data; int n; };\n"
                     "__global__ void f(float *o, P p) {\n"
                     "  if (threadIdx.x < p.n) o[threadIdx.x] = p.data[0]; }\n"),
            "TODO: not supported: pointers inside a structure, such as p; let the kernel take them "
            "as parameters");
}

TEST_F(TakeIn, ATensorMapIsLeftToTheUser) {
  const Intake intake = take(
      "#include <cuda.h>\n"
      "__global__ void f(float *o, const __grid_constant__ CUtensorMap map) {\n"
      "  o[0] = reinterpret_cast<const char *>(&map)[threadIdx.x]; }\n");
  const Json map = problem(intake)["arguments"][1];
  EXPECT_EQ(map["direction"], "tensor_map");
  EXPECT_EQ(map["of"], "TODO: name of the buffer");
  EXPECT_EQ(map["dims"][0], "TODO: elements of each dimension, the innermost first");
  EXPECT_FALSE(map.contains("dtype"));
  EXPECT_THAT(intake.draft.notes, Contains(HasSubstr("cuTensorMapEncodeTiled")));
}

TEST_F(TakeIn, ASourceWithoutMacrosNeedsOne) {
  const Json made =
      space(take("namespace { __constant__ int t[4]; }\n"
                 "__global__ void f(int *o) { o[0] = t[threadIdx.x]; }\n"));
  EXPECT_THAT(made["parameters"][0].get<std::string>(), HasSubstr("TODO: a macro of the source"));
}

TEST_F(TakeIn, HeadersOfTheOwnFolderGoAlong) {
  file("parts/a.h", "#pragma once\n#include \"b.h\"\n");
  file("parts/b.h", "#pragma once\n#define SCALE 3\n");
  const Intake intake = take(
      "#include \"parts/a.h\"\n#include <cuda_fp16.h>\n"
      "__global__ void f(__half *c) { *c = __float2half(SCALE); }\n");
  std::vector<std::string> names;
  for (const auto& [from, to] : intake.copies) names.push_back(to);
  EXPECT_THAT(names, ElementsAre("k.cu", "parts/a.h", "parts/b.h"));
  EXPECT_THAT(intake.outside, ElementsAre("cuda_fp16.h"));
  EXPECT_EQ(problem(intake)["arguments"][0]["dtype"], "f16");
}

TEST_F(TakeIn, AFileWithItsHostProgramIsTakenAsItIs) {
  file("sizes.h", "typedef unsigned int uint;\nextern \"C\" void init(void);\n");
  const Intake intake = take(
      "#include <stdio.h>\n#include <vector>\n#include <helper_cuda.h>\n#include \"sizes.h\"\n"
      "static uint *d_data;\n"
      "__global__ void f(uint8_t *x, uint n) { if (n < INT_MAX) x[threadIdx.x] = n; }\n"
      "template <class T> void launch(T *x) { f<<<1, 32>>>(x, 3); }\n"
      "template void launch<uint8_t>(uint8_t *x);\n"
      "int main() { std::vector<int> v; checkCudaErrors(cudaMalloc(&d_data, 4)); return 0; }\n");
  EXPECT_EQ(problem(intake)["arguments"][0]["dtype"], "u8");
  EXPECT_EQ(problem(intake)["arguments"][1]["dtype"], "u32");
  EXPECT_TRUE(intake.outside.empty());
}

TEST_F(TakeIn, ConstantsOfVectorsHaveAllTheirNumbers) {
  const Json found =
      problem(take("#define VERTICES 600\n__constant__ float2 corner[VERTICES];\n"
                   "__global__ void f(float *o) { o[threadIdx.x] = corner[threadIdx.x].y; }\n"));
  EXPECT_EQ(found["arguments"][1]["extent"], 1200);
}

TEST_F(TakeIn, AMacroIsNoParameterOfATemplate) {
  request_.entry = "f<float, BLOCK>";
  request_.parameters = {{"BLOCK", "32,64"}};
  EXPECT_THAT(
      refusal("template <typename T, int BLOCK>\n__global__ void f(T *o) { o[0] = BLOCK; }\n"),
      AllOf(HasSubstr("--param BLOCK: a template of k.cu has a parameter of this name"),
            HasSubstr("--param MY_BLOCK=")));
}

TEST_F(TakeIn, TypesOfAPlainSymbolComeFromTheCompiler) {
  const Intake intake = take(
      "#define REAL double\ntypedef unsigned short pixel;\n"
      "extern \"C\" __global__ void f(\n#if SOA == 1\n  const REAL *x, const REAL *y,\n#else\n"
      "  const double2 *xy,\n#endif\n  pixel *out, REAL scale) {\n#if SOA == 1\n"
      "  out[0] = x[0] * y[0] * scale;\n#else\n  out[0] = xy[0].x * xy[0].y * scale;\n#endif\n}\n");
  const Json arguments = problem(intake)["arguments"];
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[0]["name"], "xy");
  EXPECT_EQ(arguments[0]["dtype"], "f64");
  EXPECT_EQ(arguments[1]["dtype"], "u16");
  EXPECT_EQ(arguments[2]["dtype"], "f64");
}

}  // namespace
}  // namespace evo
