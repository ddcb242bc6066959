// Tests the program evo-init: it makes a problem and a space from a CUDA file, and evo-judge
// accepts the kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTriple =
    "__global__ void triple(const float *x, float *y, int n) {\n"
    "  int i = blockIdx.x * block_size_x + threadIdx.x;\r\n"
    "  if (i < n) y[i] = 3 * x[i];\n}\n";

class EvoInit : public testing::Test {
 protected:
  EvoInit() { write_file(folder_.path() / "triple.cu", kTriple); }

  ProgramResult run(const std::string& command) const {
    return run_program(command, folder_.path());
  }
  std::string text(const std::string& name) const { return read_text_file(folder_.path() / name); }
  void replace(const std::string& name, const std::string& what, const std::string& by) const {
    std::string content = text(name);
    const std::size_t at = content.find(what);
    ASSERT_NE(at, std::string::npos) << what << " in " << content;
    write_file(folder_.path() / name, content.replace(at, what.size(), by));
  }

  sample::TemporaryFolder folder_;
};

constexpr const char* kProblem = "kernel_templates/triple/problem.json";
constexpr const char* kSpace = "search_spaces/triple.json";

TEST_F(EvoInit, TheNextCommandNamesAVirtualGpuOfTheArchitecture) {
  const ProgramResult made = run("evo-init triple.cu --param block_size_x=64,128 --arch sm_90");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("search_spaces/triple.json --device virtual:h200"));
}

TEST_F(EvoInit, SaysWhatItFoundAndWhatIsLeftToWrite) {
  const ProgramResult made = run("evo-init triple.cu --param block_size_x=64,128");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(
      made.out,
      AllOf(HasSubstr("kernel triple, symbol _Z6triplePKfPfi\n"),
            HasSubstr("macros of the space: block_size_x=64 of 2\n"),
            HasSubstr("CTAs are independent\n"), HasSubstr("copied: triple.cu\n"),
            HasSubstr(std::string(kProblem) + ":6: TODO: number of elements of x\n"),
            HasSubstr("reference.py:20: TODO: y = ..., float32\n"), HasSubstr("  6 lines\n"),
            HasSubstr("evo-judge --space search_spaces/triple.json --device virtual:l4")));
  EXPECT_EQ(
      made.err,
      "evo-init: assumed: tolerance: chosen by the type of the outputs, see problem.json; "
      "--tolerance sets the largest error of an element\n"
      "evo-init: assumed: flops: 1, because it was not given, so TFLOP/s are meaningless; set it "
      "by --flops\n");
  EXPECT_EQ(text("kernel_templates/triple/triple.cu"), kTriple)
      << "evo-init copies the file byte for byte";
}

TEST_F(EvoInit, NothingIsReplacedUnlessSaid) {
  const std::string command = "evo-init triple.cu --out made --name other";
  ASSERT_EQ(run(command).exit_code, 0);
  EXPECT_EQ(run(command).exit_code, 0) << "all files exist and would not change";
  const std::string changed = "made/kernel_templates/other/reference.py";
  write_file(folder_.path() / changed, "mine\n");
  const ProgramResult again = run(command);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr(changed), HasSubstr("--force replaces it"),
                               Not(HasSubstr("did not write it"))));
  EXPECT_EQ(text(changed), "mine\n");
  EXPECT_EQ(run(command + " --force").exit_code, 0);
  EXPECT_NE(text(changed), "mine\n");
}

TEST_F(EvoInit, ASpaceWithoutValuesIsRefusedByName) {
  ASSERT_EQ(run("evo-init triple.cu").exit_code, 0);
  const ProgramResult judged = run(std::string("evo-judge --device none --space ") + kSpace);
  EXPECT_EQ(judged.exit_code, 2);
  EXPECT_THAT(
      judged.err,
      HasSubstr("triple.json: parameters[0].values: TODO: list of the values of block_size_x"));
}

TEST_F(EvoInit, BadInputSaysWhatIsAllowed) {
  EXPECT_EQ(run("evo-init").exit_code, 2);
  EXPECT_THAT(run("evo-init none.cu").err, HasSubstr("none.cu: no such file"));
  EXPECT_THAT(run("evo-init triple.cu --param block_size_x").err, HasSubstr("NAME=VALUE"));
  EXPECT_THAT(run("evo-init triple.cu --name ../x").err, HasSubstr("--name ../x: allowed"));
  EXPECT_THAT(run("evo-init triple.cu --entry 'f;g'").err, HasSubstr("--entry f;g: allowed"));
  EXPECT_THAT(run("evo-init triple.cu --t1 triple.cu").err, HasSubstr("triple.cu: not JSON"));
  const ProgramResult broken = run("evo-init triple.cu --param block_size_x=x+");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_.path() / "kernel_templates"));
}

TEST_F(EvoInit, ArgumentsThatAreNotUtf8AreRefused) {
  fs::copy_file(folder_.path() / "triple.cu", folder_.path() / "inv\xff.cu");
  for (const char* arguments : {"inv\xff.cu", "triple.cu --value n=\xff"}) {
    const ProgramResult refused = run(std::string("evo-init ") + arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("\\xff"), HasSubstr("allowed: UTF-8")));
  }
}

TEST_F(EvoInit, ScalarsOfFewBitsAreJudged) {
  write_file(folder_.path() / "few.cu",
             "__global__ void few(const int *x, int *y, short a, bool b, signed char c, int n) {\n"
             "  int i = blockIdx.x * BLOCK + threadIdx.x;\n"
             "  if (i < n) y[i] = a * x[i] + (b ? 256 * c : 0);\n}\n"
             "__global__ void same(const int *x, int *y, short a, bool b, signed char c, int n) {\n"
             "  int i = blockIdx.x * BLOCK + threadIdx.x;\n"
             "  if (i < n) y[i] = -300 * x[i] - 512;\n}\n");
  const ProgramResult made =
      run("evo-init few.cu --entry few --param BLOCK=64,128 --size n=10000 --value a=-300 "
          "--value b=1 --value c=-2 --input x=integers:0:9 --reference same");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const ProgramResult judged =
      run("evo-judge --jobs 1 --device virtual:l4 --space search_spaces/few.json");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(EvoInit, MisspeltNamesAreAnsweredWithWhatIsMeant) {
  write_file(folder_.path() / "scale.cu",
             "extern \"C\" __global__ void scale(const float* x, float* y, float a, int n) {\n"
             "  int i = blockIdx.x * THREADS + threadIdx.x;\n  if (i < n) y[i] = a * x[i];\n}\n");
  const std::string scale = "evo-init scale.cu --param THREADS=64 --size n=100 ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"evo-init scal.cu", "scal.cu: no such file; did you mean 'scale.cu'?"},
      {"evo-init scale.cu --param THREAD=64",
       "--param THREAD: neither the code nor another option uses it; did you mean THREADS?"},
      {scale + "--entry scal", "--entry: unknown kernel 'scal'; did you mean 'scale'? Allowed: "},
      {scale + "--reference scales", "--reference: unknown kernel 'scales'; did you mean 'scale'?"},
      {scale + "--arch sm89", "--arch sm89: allowed: an architecture, such as sm_89"},
      {scale + "--input x=noraml:0:1", "unknown distribution 'noraml'; did you mean 'normal'?"},
      {scale + "--extent z=n", "--extent z: the kernel has no buffer of this name; it has: x, y"},
      {scale + "--grid 'ceil_div(m, THREADS)'", "allowed: sizes and macros of the space"}};
  for (const auto& [command, expected] : cases) {
    const ProgramResult result = run(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr(expected)) << command;
  }
}

TEST_F(EvoInit, AMacroThatReplacesWordsOfTheCompilersHeadersIsSaidToBeOne) {
  write_file(folder_.path() / "t.cu", "__global__ void a(int *x) { *x = T; }\n");
  const ProgramResult refused = run("evo-init t.cu --param T=-1,-2");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("t.cu: does not compile with T=-1"),
                                 HasSubstr("that the compiler's headers use, such as T")));
}

TEST_F(EvoInit, ASourceThatHasNoEndIsNotCompiledForEver) {
  std::string text = "#define A0 1\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + " " + before + "+" + before + "\n";
  }
  write_file(folder_.path() / "bomb.cu", text + "__global__ void a(int *x) { *x = A39; }\n");
  const ProgramResult refused = run("evo-init bomb.cu --compile-seconds 2");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("bomb.cu: compiling and measuring extents takes longer than 2 s"),
                    HasSubstr("--compile-seconds sets another limit")));
  EXPECT_FALSE(fs::exists(folder_.path() / "kernel_templates"));
  EXPECT_EQ(run("evo-init bomb.cu --compile-seconds 0").exit_code, 2);
}

TEST_F(EvoInit, WithItsLinesWrittenTheKernelIsJudged) {
  ASSERT_EQ(run("evo-init triple.cu --param block_size_x=64,128").exit_code, 0);
  write_file(folder_.path() / "kernel_templates/triple/reference.cu",
             "__global__ void expected(const float *x, float *y, int n) {\n"
             "  int i = blockIdx.x * 64 + threadIdx.x;\n  if (i < n) y[i] = x[i] + 2 * x[i];\n}\n");
  const auto set = [&](const std::string& what, const std::string& by) {
    replace(kProblem, "\"TODO: " + what + "\"", by);
  };
  set("number of elements of x", "\"N_X\"");
  set("number of elements of y", "\"N_X\"");
  set("value of n", "\"N_X\"");
  set("size of the problem in x", "1000");
  set("CTAs in x, such as ceil_div(N_X, block_size_x)", "\"ceil_div(N_X, block_size_x)\"");
  replace(kProblem, "{\"program\": [\"python3\", \"reference.py\"]}",
          "{\"source\": \"reference.cu\", \"entry\": \"expected\", "
          "\"grid\": [\"ceil_div(N_X, 64)\"], \"block\": [64]}");
  const ProgramResult judged =
      run(std::string("evo-judge --jobs 1 --device virtual:l4 --space ") + kSpace);
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(EvoInit, WithASizeAndAReferenceNoLineIsWritten) {
  const ProgramResult made =
      run("evo-init triple.cu --param block_size_x=64,128 --size n=100000 --input x=uniform:0:1");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("  0 lines\n"), HasSubstr("x: n elements"),
                              Not(HasSubstr("--allow-programs"))));
  EXPECT_THAT(made.err,
              HasSubstr("assumed: reference: the default configuration is the reference"));
  EXPECT_FALSE(fs::exists(folder_.path() / "kernel_templates/triple/reference.py"));
  const ProgramResult judged = run(std::string("evo-judge --jobs 1 --device virtual:l4 --space ") +
                                   kSpace + " --set block_size_x=128");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  EXPECT_THAT(run("evo-init triple.cu --size 5").err, HasSubstr("--size 5: allowed: NAME=VALUE"));
}

TEST_F(EvoInit, AProgramIsTheReferenceWhereItIsAskedForOrNoDefaultIsThere) {
  const std::string stub = "kernel_templates/triple/reference.py";
  for (const std::string options : {"--param block_size_x=64,128 --reference program",
                                    "--param block_size_x=64,128", "--size n=100000"}) {
    ASSERT_EQ(run("evo-init triple.cu --force " + options).exit_code, 0) << options;
    EXPECT_TRUE(fs::remove(folder_.path() / stub)) << options;
  }
}

TEST_F(EvoInit, HeadersOfOtherFoldersAreCopiedToWhereTheyAreFound) {
  fs::create_directories(folder_.path() / "inc/parts");
  write_file(folder_.path() / "inc/three.cuh", "#include \"parts/value.h\"\n");
  write_file(folder_.path() / "inc/parts/value.h", "#define THREE 3\n");
  write_file(folder_.path() / "header.cu",
             "#include <three.cuh>\n#include <cuda_fp16.h>\n#include \"parts/value.h\"\n"
             "__global__ void header(const float *x, float *y, int n) {\n"
             "  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) y[i] = THREE * x[i];\n}\n");
  const std::string command = "evo-init header.cu --param BLOCK=64,128 --size n=10000";
  EXPECT_THAT(run(command).err, HasSubstr("parts/value.h\": no such file"));
  EXPECT_THAT(run(command + " -I none").err, HasSubstr("-I none: there is no such folder"));
  ASSERT_EQ(run(command + " -I inc").exit_code, 0);
  EXPECT_EQ(text("kernel_templates/header/parts/value.h"), "#define THREE 3\n");
  fs::remove_all(folder_.path() / "inc");
  const ProgramResult judged =
      run("evo-judge --jobs 1 --device virtual:l4 --space search_spaces/header.json");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  // evo-init refuses two headers that it would copy to the same file.
  fs::create_directories(folder_.path() / "a");
  fs::create_directories(folder_.path() / "b/sub");
  write_file(folder_.path() / "a/one.h", "#include \"sub/two.h\"\n");
  fs::create_directories(folder_.path() / "a/sub");
  write_file(folder_.path() / "a/sub/two.h", "#define A\n");
  write_file(folder_.path() / "b/sub/two.h", "#define B\n");
  write_file(folder_.path() / "b/other.h", "#include \"sub/two.h\"\n");
  write_file(folder_.path() / "both.cu",
             "#include <one.h>\n#include <other.h>\n__global__ void both(int *x) { *x = 1; }\n");
  const ProgramResult refused = run("evo-init both.cu -I a -I b");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("both would be copied to sub/two.h"));
}

TEST_F(EvoInit, KernelsThatFollowEachOtherAreJudgedAsOne) {
  write_file(folder_.path() / "two.cu",
             "__global__ void square(const float *x, float *squares, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i < n) squares[i] = x[i] * x[i];\n}\n"
             "__global__ void shift(const float *squares, float *y, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i < n) y[i] = squares[(i + 1) % n];\n}\n");
  const ProgramResult made =
      run("evo-init two.cu --entry square --entry shift --param BLOCK=64,128 --size n=10000 "
          "--grid 'ceil_div(n, BLOCK)' --grid 'ceil_div(n, 64)' --block BLOCK --block 64 "
          "--reference default");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("  0 lines\n"));
  const ProgramResult judged =
      run("evo-judge --jobs 1 --device virtual:l4 --space search_spaces/two.json --set BLOCK=128");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  const ProgramResult refused = run("evo-init two.cu --entry shift --grid 1 --grid 2");
  EXPECT_THAT(refused.err, HasSubstr("--grid 2: allowed: one for each --entry"));
}

TEST_F(EvoInit, TheReferenceStopsUntilItIsWritten) {
  ASSERT_EQ(run("evo-init triple.cu --param block_size_x=64").exit_code, 0);
  const std::string stub = text("kernel_templates/triple/reference.py");
  EXPECT_THAT(stub, AllOf(HasSubstr("x = np.load(folder / \"x.npy\")"),
                          HasSubstr("n = case[\"scalars\"][\"n\"]"),
                          HasSubstr("N_X = case[\"variables\"][\"N_X\"]"),
                          HasSubstr("raise NotImplementedError(\"reference.py: y is not computed"),
                          HasSubstr("np.save(folder / \"y.npy\", np.asarray(y, dtype=np.float32)"),
                          Not(HasSubstr("np.load(folder / \"y.npy\")"))));
}

}  // namespace
}  // namespace evo
