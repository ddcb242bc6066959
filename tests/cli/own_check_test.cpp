// Tests problems with a check program, which judges the outputs of a kernel. Uses the real
// programs, NVRTC, and a virtual GPU or the device that EVO_TEST_DEVICE names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/own_data.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A problem whose kernel writes partial sums of x, more or fewer depending on the configuration.
/// The check program adds the partial sums up and compares the total with the sum of x.
class OwnCheck : public OwnData {
 protected:
  OwnCheck() {
    kernel(
        "__global__ void triple(const float* x, float* y, int n) {\n"
        "  float sum = 0;\n"
        "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += PARTS * BLOCK)\n"
        "    sum += x[i];\n"
        "  y[blockIdx.x * BLOCK + threadIdx.x] = sum;\n}\n");
    problem_["arguments"][0]["generator"] = {{"distribution", "uniform"}, {"low", 0}, {"high", 1}};
    problem_["arguments"][1]["extent"] = "PARTS * BLOCK";
    problem_["templates"]["triple"]["grid"] = {"PARTS"};
    problem_.erase("reference");
    problem_["check"] = {{"program", {"python3", "check.py"}}};
    space_["parameters"][1] = {{"macro", "PARTS"}, {"values", {2, 3}}};
    program("check.py",
            "total, got = sum(load('x')), sum(load('output_y'))\n"
            "if not abs(got - total) < 1e-3 * total: sys.exit(f'sums to {got}')\n");
  }
};

TEST_F(OwnCheck, AProgramJudgesOutputsOfAnySize) {
  EXPECT_THAT(judged(), HasSubstr("check.program: 'python3 check.py'"));
  EXPECT_EQ(judged("--allow-programs"), "green");
  EXPECT_EQ(judged("--allow-programs --set PARTS=3 BLOCK=64"), "green");
  kernel(
      "__global__ void triple(const float* x, float* y, int n) {\n"
      "  y[blockIdx.x * BLOCK + threadIdx.x] = x[threadIdx.x];\n}\n");
  EXPECT_THAT(judged("--allow-programs"),
              HasSubstr("the check program rejects the outputs: sums to"));
  // On a virtual GPU, evo-judge reports output elements that the kernel did not write, also in a
  // problem with a check program.
  kernel(
      "__global__ void triple(const float* x, float* y, int n) {\n"
      "  if (threadIdx.x) y[blockIdx.x * BLOCK + threadIdx.x] = x[threadIdx.x];\n}\n");
  EXPECT_THAT(judged("--allow-programs"),
              HasSubstr(is_virtual() ? "never written" : "rejects the outputs"));
}

/// The macro MORE changes the number of elements of the output y, but not the machine code of the
/// kernel.
TEST_F(OwnCheck, KernelsWithOtherOutputsAreNotOneKernel) {
  space_["parameters"] = {{{"macro", "BLOCK"}, {"values", {32}}},
                          {{"macro", "PARTS"}, {"values", {2}}},
                          {{"macro", "MORE"}, {"values", {0, 1}}}};
  problem_["arguments"][1]["extent"] = "PARTS * BLOCK + MORE";
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --strategy random --offspring 4 "
                                  "--space search_spaces/triple.json --allow-programs");
  EXPECT_THAT(tuned.err, HasSubstr("2 evaluated · 1 green · rejected: correctness 1"));
}

TEST_F(OwnCheck, ACheckThatCannotFailIsRefused) {
  program("check.py", "print('fine')\n");
  EXPECT_THAT(judged("--allow-programs"),
              HasSubstr("the check accepts outputs that hold zeros only"));
  program("check.py", "sys.exit(0 if any(load('output_y')) else 'zeros')\n");
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("the check accepts outputs that hold noise"));
}

TEST_F(OwnCheck, ACheckThatFailsIsNoVerdict) {
  program("check.py", "import no_such_module\n");
  EXPECT_THAT(judged("--allow-programs"),
              AllOf(HasSubstr("check.program"), HasSubstr("No module named 'no_such_module'"),
                    HasSubstr("next step: install the module for the Python")));
  program("check.py", "if True: while\n");
  EXPECT_THAT(judged("--allow-programs"),
              AllOf(HasSubstr("check.program"), HasSubstr("SyntaxError")));
  program("check.py", "sys.exit(3)\n");
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("ended with exit code 3"));
  program("check.py", "assert abs(sum(load('x')) - sum(load('output_y'))) < 0.1\n");
  EXPECT_EQ(judged("--allow-programs"), "green");
}

TEST_F(OwnCheck, ACheckMustBeAbleToFailOnEveryShape) {
  problem_["shapes"]["large"] = {{"variables", {{"N", 2000}}}, {"check", true}};
  problem_["shapes"]["small"]["check"] = true;
  EXPECT_EQ(judged("--allow-programs"), "green");
  program("check.py",
          "if case['shape'] == 'large': sys.exit(0)\n"
          "if not abs(sum(load('output_y')) - sum(load('x'))) < 1: sys.exit('no')\n");
  EXPECT_THAT(judged("--allow-programs"),
              AllOf(HasSubstr("on shape 'large'"), HasSubstr("accepts outputs that hold zeros")));
}

TEST_F(OwnCheck, ACheckMustLookAtEveryOutputThatNothingElseJudges) {
  problem_["arguments"].push_back(
      {{"name", "z"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", "N"}});
  kernel(
      "__global__ void triple(const float* x, float* y, int n, float* z) {\n"
      "  float sum = 0;\n"
      "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += PARTS * BLOCK)\n"
      "    sum += x[i], z[i] = 42;\n"
      "  y[blockIdx.x * BLOCK + threadIdx.x] = sum;\n}\n");
  EXPECT_THAT(judged("--allow-programs"),
              HasSubstr("the check accepts 'z' whatever its elements 0 to"));
  problem_["arguments"][3]["degenerate"] = true;
  EXPECT_EQ(judged("--allow-programs"), "green");
  problem_["arguments"][3]["degenerate"] = false;
  program("check.py",
          "if not abs(sum(load('output_y')) - sum(load('x'))) < 1: sys.exit('no')\n"
          "if any(v != 42 for v in load('output_z')): sys.exit('z')\n");
  EXPECT_EQ(judged("--allow-programs"), "green");
}

TEST_F(OwnCheck, ACheckMustLookAtAllOfAnOutputThatNothingElseJudges) {
  const std::string header = "x, y = load('x'), load('output_y')\n";
  const auto verdict_of = [&](const std::string& check) {
    program("check.py", header + check);
    return judged("--allow-programs");
  };
  kernel(
      "__global__ void triple(const float* x, float* y, int n) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
      "  y[i] = x[i] + 1;\n}\n");
  EXPECT_THAT(verdict_of("if abs(y[0] - x[0] - 1) > 1e-6: sys.exit('first')\n"),
              HasSubstr("the check accepts 'y' whatever its elements 32 to 62 of 64 hold"));
  EXPECT_THAT(verdict_of("if abs(y[63] - x[63] - 1) > 1e-6: sys.exit('last')\n"),
              HasSubstr("the check accepts 'y' whatever its elements 0 to 31 of 64 hold"));
  EXPECT_THAT(verdict_of("if any(abs(y[i] - x[i] - 1) > 1e-6 for i in range(63)): sys.exit('')\n"),
              HasSubstr("the check accepts 'y' whatever its elements 63 to 63 of 64 hold"));
  EXPECT_EQ(verdict_of("if any(abs(y[i] - x[i] - 1) > 1e-6 for i in range(64)): sys.exit('')\n"),
            "green");
  problem_["arguments"][1]["degenerate"] = true;
  EXPECT_EQ(verdict_of("if abs(y[0] - x[0] - 1) > 1e-6: sys.exit('first')\n"), "green");
}

/// If the output of one kernel makes an otherwise working check program fail, evo-tune rejects the
/// kernel and continues the run.
TEST_F(OwnCheck, ACandidateThatBreaksTheCheckEndsNoRun) {
  kernel(
      "__global__ void triple(const float* x, float* y, int n) {\n"
      "  float sum = 0;\n"
      "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += PARTS * BLOCK)\n"
      "    sum += x[i];\n"
      "  y[blockIdx.x * BLOCK + threadIdx.x] = PARTS == 3 ? 12345.0f : sum;\n}\n");
  for (const char* failure : {"int(float('nan'))", "sys.exit(7)", "os.kill(os.getpid(), 11)",
                              "list(map(print, iter(lambda: 'x' * 100000, 0)))"}) {
    program("check.py", "import os\nif load('output_y')[0] == 12345: " + std::string(failure) +
                            "\nif not abs(sum(load('output_y')) - sum(load('x'))) < 1: "
                            "sys.exit('no')\n");
    const ProgramResult tuned =
        run("evo-tune --device virtual:l4 --jobs 1 --generations 1 --strategy random --offspring 4 "
            "--space search_spaces/triple.json --allow-programs");
    EXPECT_EQ(tuned.exit_code, 0) << failure << tuned.err;
    EXPECT_THAT(tuned.err, HasSubstr("4 evaluated · 2 green · rejected: correctness 2"));
  }
  EXPECT_THAT(judged("--allow-programs --set PARTS=3"),
              AllOf(HasSubstr("the check program fails on these outputs: wrote more than 64 MiB")));
}

TEST_F(OwnCheck, AnOutputWithoutElementsIsAFileToo) {
  problem_["arguments"].push_back(
      {{"name", "z"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", "PARTS - 2"}});
  kernel(
      "__global__ void triple(const float* x, float* y, int n, float* z) {\n"
      "  float sum = 0;\n"
      "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += PARTS * BLOCK)\n"
      "    sum += x[i];\n"
      "  y[blockIdx.x * BLOCK + threadIdx.x] = sum;\n"
      "  if (PARTS == 3) z[0] = 5;\n}\n");
  program("check.py",
          "if not abs(sum(load('output_y')) - sum(load('x'))) < 1: sys.exit('no')\n"
          "if any(v != 5 for v in load('output_z')): sys.exit('z')\n");
  EXPECT_EQ(judged("--allow-programs --set PARTS=2"), "green");
  EXPECT_EQ(judged("--allow-programs --set PARTS=3"), "green");
}

TEST_F(OwnCheck, OutputsSizedByMacrosAreNoneOfTheBytesThatTheShapeKnows) {
  problem_.erase("bytes");
  EXPECT_EQ(judged("--allow-programs"), "green");
  problem_["arguments"].erase(0);
  EXPECT_THAT(judged("--allow-programs"),
              AllOf(HasSubstr("problem.json: bytes: "), HasSubstr("depend on macros")));
}

TEST_F(OwnCheck, OutputsSizedByMacrosNeedACheck) {
  problem_.erase("check");
  problem_["reference"] = {{"set", Json::object()}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments: y.extent: 'PARTS * BLOCK'"),
                              HasSubstr("\"check\" program")));
}

}  // namespace
}  // namespace evo
