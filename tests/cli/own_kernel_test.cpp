// Tests kernels as users write them, for example with C++ templates as entry points, partly
// compared outputs, scalar arguments, headers, constraints, and variables that nothing sets. Uses
// the real programs, NVRTC and the device that OwnKernel::device() names.

#include "tests/cli/own_kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(OwnKernel, ATemplateIsInstantiatedForEveryCandidateAndExported) {
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --strategy random --offspring 4 "
                                  "--space search_spaces/triple.json --quiet");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const ProgramResult exported = run("evo-export --rank 1 --out out --name best");
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const Json manifest = read_json_file(folder_.path() / "out/best.json");
  const int items = manifest["config"]["PER_THREAD"];
  EXPECT_EQ(manifest["entry"], "_Z6tripleIfLi" + std::to_string(items) + "EEvPKT_PS0_i");
  EXPECT_EQ(manifest["entry_in_source"], "triple<float, PER_THREAD>");
  EXPECT_THAT(read_text_file(folder_.path() / "out/best.ptx"),
              HasSubstr(".entry " + manifest["entry"].get<std::string>()));
  EXPECT_THAT(read_text_file(folder_.path() / "out/best.cu"),
              HasSubstr("template __global__ decltype(triple<float, PER_THREAD>)"));
}

/// A problem whose output y has N / 8 elements, but only the first N / 40 are compared with the
/// reference.
class PartialSums : public OwnKernel {
 protected:
  PartialSums() {
    problem_["arguments"][1] = {{"name", "y"},
                                {"direction", "out"},
                                {"dtype", "f32"},
                                {"extent", "N/8"},
                                {"compare", "N/40"}};
    problem_["templates"]["triple"]["entry"] = "triple";
    problem_["shapes"]["odd"] = {{"variables", {{"N", 1080}}}, {"check", true}};
    problem_["reference"] = {{"program", {"python3", "reference.py"}}};
    write("kernel_templates/triple/reference.py", R"py(import array, json, struct, sys
folder = sys.argv[1]
count = json.load(open(folder + "/case.json"))["outputs"]["y"]["elements"]
x = array.array("f", open(folder + "/x.npy", "rb").read()[128:])
y = array.array("f", [3 * value for value in x[:count]])
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % count
head = head.ljust(117) + "\n"
open(folder + "/y.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() +
                                    y.tobytes())
)py");
  }

  /// Writes a kernel that sets y[i] = 3 * x[i] for i < N / 40 `last` (`last`: empty or "- 1"), and
  /// executes the statement `rest` for every other i < N / 8.
  void writes(const std::string& last, const std::string& rest) const {
    kernel(
        "__global__ void triple(const float* x, float* y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;\n"
        "  for (int k = 0; k < PER_THREAD; ++k, i += blockDim.x) {\n"
        "    if (i < n / 40 " +
        last + ") y[i] = 3 * x[i];\n    else if (i < n / 8) " + rest + ";\n  }\n}\n");
  }
};

TEST_F(PartialSums, BehindTheResultAreNobodys) {
  for (const std::string rest : {"y[i] = BLOCK * PER_THREAD", "{}"}) {
    writes("", rest);
    const ProgramResult judged = judge("--allow-programs --set PER_THREAD=2");
    EXPECT_EQ(judged.exit_code, 0) << rest << judged.out << judged.err;
  }
}

TEST_F(PartialSums, InFrontOfThemTheResultIsLookedAtToItsEnd) {
  writes("- 1", "y[i] = 0");
  const ProgramResult wrong = judge("--allow-programs");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("max abs error"));
  if (!is_virtual()) return;
  writes("- 1", "{}");
  EXPECT_THAT(judge("--allow-programs").out, HasSubstr("was never written"));
  writes("", "y[n / 8] = 0");
  EXPECT_THAT(judge("--allow-programs").out, HasSubstr("past the end of 'y'"));
}

TEST_F(PartialSums, HaveANumberThatTheShapeGives) {
  writes("", "y[i] = 0");
  problem_["arguments"][1]["compare"] = "N/4";
  EXPECT_THAT(judge("--allow-programs").err,
              AllOf(HasSubstr("argument 'y'"), HasSubstr("from 1 to its extent, 135")));
  problem_["arguments"][1]["compare"] = "PER_THREAD";
  EXPECT_THAT(judge("--allow-programs").err,
              AllOf(HasSubstr("y.compare"), HasSubstr("expression of shape variables")));
  problem_["arguments"][1]["compare"] = "N/40";
  problem_["arguments"][1]["row"] = 4;
  EXPECT_THAT(judge("--allow-programs").err, HasSubstr("divides its 27 elements"));
}

TEST_F(OwnKernel, AMisspeltEntryNamesFileKeyAndWhatTheCompilerSaid) {
  problem_["templates"]["triple"]["entry"] = "tripel<float, 2>";
  const ProgramResult judged = judge();
  EXPECT_EQ(judged.exit_code, 1) << judged.err;
  const Json found = Json::parse(judged.out);
  EXPECT_THAT(found["rejection"]["reason"].get<std::string>(),
              AllOf(HasSubstr("triple.cu: entry: "), HasSubstr("tripel<float, 2>"),
                    HasSubstr("identifier \"tripel\" is undefined")));
}

/// The source of the kernel `triple`, with `headers` before it and `body` in it.
std::string with_headers(const std::string& headers, const std::string& body) {
  return headers + "__global__ void triple(const float* x, float* y, int n) {\n" + body + "}\n";
}

TEST_F(OwnKernel, AScalarMayNameMacros) {
  problem_["templates"]["triple"]["entry"] = "triple";
  problem_["arguments"].push_back(
      {{"name", "each"}, {"direction", "scalar"}, {"dtype", "i32"}, {"value", "PER_THREAD"}});
  problem_["reference"] = {{"set", {{"PER_THREAD", 1}}}};
  const std::string body =
      "(const float* x, float* y, int n, int each) {\n"
      "  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;\n"
      "  for (int i = begin; i < begin + each && i < n; ++i) y[i] = 3 * x[i];\n}\n";
  kernel("__global__ void triple" + body);
  for (const std::string set : {"PER_THREAD=1", "PER_THREAD=2"}) {
    const ProgramResult judged = judge("--set " + set);
    EXPECT_EQ(judged.exit_code, 0) << set << judged.out << judged.err;
  }
  // A reference kernel in another file does not get the macros of the space, so PER_THREAD, the
  // value of its argument `each`, is unknown.
  write("kernel_templates/triple/reference.cu", "__global__ void expected" + body);
  problem_["reference"] = Json::parse(R"json({"source": "reference.cu", "entry": "expected",
      "grid": ["ceil_div(N, 64)"], "block": [64]})json");
  const ProgramResult refused = judge();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("arguments: each.value: \"PER_THREAD\": unknown name"),
                                 HasSubstr("\"reference.macros\" sets")));
  problem_["reference"]["macros"] = {{"PER_THREAD", 1}};
  EXPECT_EQ(judge("--set PER_THREAD=2").exit_code, 0);
  problem_["reference"]["macros"] = {{"PER_THREAD", 0}};
  const ProgramResult nothing = judge("--set PER_THREAD=2");
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("it does not write y[0]"));
}

TEST_F(OwnKernel, KernelsThatDifferInAScalarAloneAreTwo) {
  problem_["templates"]["triple"]["entry"] = "triple";
  problem_["arguments"].push_back(
      {{"name", "factor"}, {"direction", "scalar"}, {"dtype", "f32"}, {"value", "PER_THREAD + 2"}});
  problem_["templates"]["triple"]["grid"] = {"ceil_div(N, 32)"};
  problem_["templates"]["triple"]["block"] = {32};
  problem_["reference"] = {{"set", {{"PER_THREAD", 1}}}};
  space_["parameters"][0]["values"] = {32};
  kernel(
      "__global__ void triple(const float* x, float* y, int n, float factor) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = factor * x[i];\n}\n");
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --strategy random --offspring 4 "
                                  "--space search_spaces/triple.json --quiet");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const ProgramResult other = judge("--set PER_THREAD=2");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(Json::parse(other.out)["rejection"]["gate"], "correctness") << other.out;
}

TEST_F(OwnKernel, AReferenceMayBeTheSameFileInAnotherConfiguration) {
  problem_["templates"]["triple"]["entry"] = "triple";
  kernel(
      "__global__ void triple(const float* x, float* y, int n) {\n"
      "#if VARIANT == 9\n"
      "  if (threadIdx.x == 0) for (int i = 0; i < n; ++i) y[i] = 3 * x[i];\n#else\n"
      "  int begin = (blockIdx.x * BLOCK + threadIdx.x) * PER_THREAD;\n"
      "  for (int i = begin; i < begin + PER_THREAD && i < n; ++i) y[i] = x[i] * 3;\n#endif\n}\n");
  problem_["reference"] =
      Json::parse(R"({"source": "triple.cu", "entry": "triple", "grid": [1], "block": ["BLOCK"],
                      "macros": {"VARIANT": 9, "BLOCK": 1}})");
  const ProgramResult judged = judge("--set PER_THREAD=2");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  problem_["reference"]["macros"] = {{"VARIANT", 9}, {"BLOCK", 1}, {"N", 3}};
  EXPECT_THAT(judge().err, HasSubstr("reference.macros.N: shapes.small.variables.N has this name"));
  problem_["reference"]["macros"] = {{"VARIANT", 9}, {"BLOCK", 1}, {"int", 3}};
  EXPECT_THAT(judge().err, HasSubstr("reference.macros.int"));
  kernel("#define VARIANT 9\n" +
         read_text_file(folder_.path() / "kernel_templates/triple/triple.cu"));
  problem_["reference"]["macros"] = {{"VARIANT", 8}, {"BLOCK", 1}};
  EXPECT_THAT(judge().err, HasSubstr("triple.cu:1: #define VARIANT"));
}

TEST_F(OwnKernel, HeadersOfTheToolkitAreFoundWithoutAnOption) {
  problem_["templates"]["triple"]["entry"] = "triple";
  space_["parameters"][1]["values"] = {1};
  kernel(with_headers("#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n",
                      "  auto i = cooperative_groups::this_grid().thread_rank();\n"
                      "  if (i < n) y[i] = 3 * x[i] + __half2float(__float2half(0.f));\n"));
  const ProgramResult judged = judge();
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  kernel(
      with_headers("#include <mma.h>\n#include <cuda/pipeline>\n"
                   "#include <cub/block/block_reduce.cuh>\n",
                   "  __shared__ typename cub::BlockReduce<float, 32>::TempStorage room;\n"
                   "  y[0] = cub::BlockReduce<float, 32>(room).Sum(x[threadIdx.x]);\n"));
  const ProgramResult built =
      run("evo-judge --json --jobs 1 --device none --space search_spaces/triple.json");
  EXPECT_EQ(built.exit_code, 0) << built.out << built.err;
}

TEST_F(OwnKernel, ASpaceOfTheWorkingFolderIsFoundByItsName) {
  const ProgramResult built = run("evo-judge --json --jobs 1 --device none --space triple");
  EXPECT_EQ(built.exit_code, 0) << built.out << built.err;
}

TEST_F(OwnKernel, AssertionsThatASourceTakesOutAreOut) {
  const std::string body =
      "#include <cassert>\n__global__ void triple(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  assert(i != 5);\n"
      "  if (i < n) y[i] = 3 * x[i];\n}\n";
  problem_["templates"]["triple"]["entry"] = "triple";
  space_["parameters"][1]["values"] = {1};
  kernel(body);
  EXPECT_EQ(judge().exit_code, 1);
  kernel("#define NDEBUG\n" + body);
  const ProgramResult judged = judge();
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(OwnKernel, IncludePathsOfProblemAndSpace) {
  problem_["templates"]["triple"]["entry"] = "triple";
  space_["parameters"][1]["values"] = {1};
  kernel(with_headers("#include \"factor.h\"\n#include <more/offset.h>\n",
                      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "  if (i < n) y[i] = FACTOR * x[i] + OFFSET;\n"));
  write("of_problem/factor.h", "#define FACTOR 3\n");
  write("of_space/more/offset.h", "#define OFFSET 0\n");
  EXPECT_THAT(judge().err, HasSubstr("no such file"));
  problem_["include_paths"] = {"../../of_problem"};
  space_["include_paths"] = {"../of_space"};
  const ProgramResult green = judge();
  EXPECT_EQ(green.exit_code, 0) << green.out << green.err;
  write("of_problem/factor.h", "#define FACTOR 4\n");
  EXPECT_EQ(Json::parse(judge().out)["rejection"]["gate"], "correctness");
  space_["include_paths"] = {"../nowhere"};
  EXPECT_THAT(judge().err, AllOf(HasSubstr("triple.json: include_paths: "), HasSubstr("../nowhere"),
                                 HasSubstr("no such folder")));
  space_["include_paths"] = {"../of_space"};
  problem_["include_paths"] = {"/etc"};
  EXPECT_THAT(judge().err,
              AllOf(HasSubstr("problem.json: include_paths: "), HasSubstr("allowed: folders")));
}

TEST_F(OwnKernel, ConstraintsNameTheShapeTheProblemAndTheDevice) {
  problem_["let"] = {{"PER_CTA", "BLOCK * PER_THREAD"}};
  problem_["templates"]["triple"]["grid"] = {"ceil_div(N, PER_CTA)"};
  problem_["templates"]["triple"]["dynamic_shared_bytes"] = "4 * PER_CTA";
  const auto refused = [&](const std::string& expression) {
    space_["constraints"] = {{{"expression", expression}}};
    return judge("--set BLOCK=64 PER_THREAD=2").err;
  };
  EXPECT_THAT(refused("N / PER_CTA >= 8"), HasSubstr("violates the constraint N / PER_CTA >= 8"));
  EXPECT_THAT(refused("DYNAMIC_SHARED_BYTES < 512"), HasSubstr("DYNAMIC_SHARED_BYTES < 512"));
  if (is_virtual()) {
    EXPECT_THAT(refused("PER_CTA <= 2 * SM_COUNT"), HasSubstr("violates")) << "an L4 has 58 SMs";
  }
  EXPECT_THAT(refused("DYNAMIC_SHARED_BYTES <= MAX_SHARED_BYTES_PER_CTA and N == 1000"),
              testing::Not(HasSubstr("violates")));
  space_["let"] = {{"PER_CTA", 3}};
  EXPECT_THAT(refused("1"), AllOf(HasSubstr("'PER_CTA' is also in"), HasSubstr("let.PER_CTA")));
  space_["let"] = {{"HALF", "PER_CTA / 2"}};
  EXPECT_THAT(refused("HALF < 64"), HasSubstr("violates the constraint HALF < 64"));
  // evo-elite reads the space from the database and does not read the problem file, so it must
  // accept a constraint with names that only the problem file defines (PER_CTA, N).
  space_["constraints"] = {{{"expression", "HALF < 999 * N"}}};
  ASSERT_EQ(run("evo-tune --device " + device() +
                " --jobs 1 --generations 1 --strategy random "
                "--offspring 4 --space search_spaces/triple.json --quiet")
                .exit_code,
            0);
  std::filesystem::remove_all(folder_.path() / "kernel_templates");
  const ProgramResult insight = run_program("evo-elite insight", folder_.path());
  EXPECT_EQ(insight.exit_code, 0) << insight.err;
}

TEST_F(OwnKernel, ScalarsMayBeHalves) {
  problem_["arguments"].push_back(
      {{"name", "h"}, {"direction", "scalar"}, {"dtype", "f16"}, {"value", "1.5"}});
  problem_["arguments"].push_back(
      {{"name", "b"}, {"direction", "scalar"}, {"dtype", "bf16"}, {"value", "-0.5"}});
  const std::string head =
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n__global__ void NAME(const float* x, float* "
      "y, int n, __half h, __nv_bfloat16 b) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const auto named = [&](const std::string& name, const std::string& body) {
    return "#define NAME " + name + "\n" + head + body + "}\n";
  };
  write("kernel_templates/triple/reference.cu",
        named("expected", "  if (i < n) y[i] = x[i] * 1.5f - 0.5f;\n"));
  kernel(named("triple", "  if (i < n) y[i] = x[i] * __half2float(h) + __bfloat162float(b);\n"));
  problem_["templates"]["triple"]["entry"] = "triple";
  space_["parameters"][1]["values"] = {1};
  const ProgramResult judged = judge();
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(OwnKernel, AConstantThatNobodySetsIsNotGreen) {
  const std::string table = "__constant__ float table[4];\n";
  const std::string body =
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 3 * x[i] + "
      "table[i % 4];\n";
  problem_["templates"]["triple"]["entry"] = "triple";
  space_["parameters"][1]["values"] = {1};
  kernel(table + with_headers("", body));
  const ProgramResult judged = judge();
  EXPECT_EQ(judged.exit_code, 1);
  EXPECT_THAT(Json::parse(judged.out)["rejection"]["reason"].get<std::string>(),
              AllOf(HasSubstr("triple.cu: __constant__ table: "), HasSubstr("unset_constants")));
  problem_["unset_constants"] = {"table"};
  EXPECT_EQ(judge().exit_code, 0);
  problem_.erase("unset_constants");
  kernel(with_headers("__constant__ float table[4] = {0, 1, 0, 0};\n", body));
  EXPECT_EQ(Json::parse(judge().out)["rejection"]["gate"], "correctness");
  write("kernel_templates/triple/reference.cu",
        table + "__global__ void expected(const float* x, float* y, int n) {\n" + body + "}\n");
  EXPECT_THAT(judge().err, AllOf(HasSubstr("reference.cu: __constant__ table")));
}

/// evo-judge must reject a kernel that reads a __device__ variable that nothing sets, as for
/// __constant__ variables, but must accept a kernel that writes the variable itself.
TEST_F(OwnKernel, AVariableThatNobodySetsIsNotGreen) {
  problem_["templates"]["triple"]["entry"] = "triple";
  space_["parameters"][1]["values"] = {1};
  const std::string table = "__device__ float table[4];\n";
  const std::string index = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const std::string body = "  if (i < n) y[i] = 3 * x[i] + table[i % 4];\n";
  kernel(table + with_headers("", index + body));
  EXPECT_THAT(Json::parse(judge().out)["rejection"]["reason"].get<std::string>(),
              AllOf(HasSubstr("triple.cu: __device__ table: "), HasSubstr("unset_constants")));
  problem_["unset_constants"] = {"table"};
  EXPECT_EQ(judge().exit_code, 0);
  problem_.erase("unset_constants");
  kernel(table + with_headers("", index + "  table[i % 4] = 0;\n" + body));
  EXPECT_EQ(judge().exit_code, 0);
  write("kernel_templates/triple/reference.cu",
        table + "__global__ void expected(const float* x, float* y, int n) {\n" + index + body +
            "}\n");
  EXPECT_THAT(judge().err, HasSubstr("reference.cu: __device__ table"));
}

TEST_F(OwnKernel, AMacroThatNothingReadsIsAWarning) {
  space_["parameters"].push_back({{"macro", "IDLE"}, {"values", {1, 2}}});
  const ProgramResult judged = judge();
  EXPECT_EQ(judged.exit_code, 0) << judged.out;
  EXPECT_THAT(judged.err,
              AllOf(HasSubstr("macro 'IDLE' is read neither by triple.cu nor by the launch"),
                    testing::Not(HasSubstr("'BLOCK'")), testing::Not(HasSubstr("'PER_THREAD'"))));
}

}  // namespace
}  // namespace evo
