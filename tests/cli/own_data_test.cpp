// Tests arguments and references of users' kernels, for example __constant__ variables, structures,
// formulas, files, and references that are no kernel. Uses the real programs, NVRTC, and a virtual
// GPU or the device that EVO_TEST_DEVICE names.

#include "tests/cli/own_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Json kFactors = {{"name", "factors"},
                       {"kind", "constant"},
                       {"dtype", "f32"},
                       {"extent", 4},
                       {"generator", {{"distribution", "normal"}}}};

TEST_F(OwnData, AConstantVariableIsAnArgument) {
  const std::string variable = "__constant__ float factors[4];\n";
  problem_["arguments"].push_back(kFactors);
  kernel(body("factors[i % 4] * x[i]", variable));
  reference("x[i] * factors[i & 3]", variable);
  EXPECT_EQ(judged(), "green");
  kernel(body("factors[0] * x[i]", variable));
  EXPECT_THAT(judged(), HasSubstr("y"));
  kernel(body("factors[i % 2] * x[i]", "__constant__ float factors[2];\n"));
  EXPECT_THAT(judged(),
              HasSubstr("__constant__ factors has 8 bytes, but argument 'factors' has 16"));
}

TEST_F(OwnData, BytesOfAConstantThatNobodySetsAreNotGreen) {
  const std::string variable = "__constant__ float factors[8];\n";
  problem_["arguments"].push_back(kFactors);
  kernel(body("factors[i % 4] * x[i]", variable));
  reference("x[i] * factors[i & 3]", variable);
  EXPECT_EQ(judged(), "green") << "the kernel reads only bytes that are set";
  kernel(body("(factors[i % 4] + factors[7]) * x[i]", variable));
  reference("x[i] * (factors[i & 3] + factors[7])", variable);
  const std::string why = judged();
  EXPECT_NE(why, "green") << "kernel and reference agree on zeros";
  if (is_virtual()) {
    EXPECT_THAT(
        why, AllOf(HasSubstr("uninitialised data"), HasSubstr("byte 28 of the 32 of 'factors'")));
  }
  // A __constant__ variable with an initialiser needs no entry under `arguments` in problem.json.
  const std::string value = "__constant__ float factors[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n";
  kernel(body("(factors[i % 4] + factors[7]) * x[i]", value));
  reference("x[i] * (factors[i & 3] + factors[7])", value);
  EXPECT_EQ(judged(), "green");
}

TEST_F(OwnData, AConstantMayHaveAnotherNameInTheSource) {
  problem_["arguments"].push_back(kFactors);
  problem_["arguments"][3]["symbol"] = "tables::own";
  const std::string variable = "namespace tables { __constant__ float own[4]; }\n";
  kernel(body("tables::own[i % 4] * x[i]", variable));
  reference("x[i] * tables::own[i & 3]", variable);
  EXPECT_EQ(judged(), "green");
  problem_["arguments"][3]["symbol"] = "own";
  EXPECT_THAT(judge().err + judge().out, HasSubstr("__constant__ tables::own: the kernel reads"));
}

TEST_F(OwnData, TheManifestNamesTheSymbolOfAConstant) {
  problem_["arguments"].push_back(kFactors);
  problem_["arguments"][3]["symbol"] = "tables::own";
  const std::string variable = "namespace tables { __constant__ float own[4]; }\n";
  kernel(body("tables::own[i % 4] * x[i]", variable));
  reference("x[i] * tables::own[i & 3]", variable);
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --offspring 1 --quiet "
                                  "--space search_spaces/triple.json");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_EQ(run("evo-export --rank 1 --out out --name best").exit_code, 0);
  const Json constant = read_json_file(folder_.path() / "out/best.json")["arguments"][3];
  EXPECT_EQ(constant["kind"], "constant");
  EXPECT_EQ(constant["symbol"], "tables::own");
  EXPECT_EQ(constant["symbol_in_module"], "_ZN6tables3ownE");
}

TEST_F(OwnData, ConstantsStandBehindTheParameters) {
  problem_["arguments"].insert(problem_["arguments"].begin(), kFactors);
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments: 'x' follows a __constant__ variable")));
}

TEST_F(OwnData, AStructureIsPassedByItsFields) {
  problem_["arguments"].push_back({{"name", "p"},
                                   {"direction", "scalar"},
                                   {"fields",
                                    {{{"name", "shift"}, {"dtype", "u8"}, {"value", 3}},
                                     {{"name", "scale"}, {"dtype", "f64"}, {"value", "N / 250"}},
                                     {{"name", "last"}, {"dtype", "i32"}, {"value", "N - 1"}}}}});
  const std::string type = "struct P { unsigned char shift; double scale; int last; };\n";
  const std::string value = "float(x[i] * p.scale + p.shift + p.last)";
  reference("float(x[i] * 4.0 + 3 + 999)", type, ", P p");
  kernel(body(value, type, ", P p"));
  problem_["tolerance"]["max_abs_error"] = 1e-3;
  problem_["tolerance"]["bad_abs_error"] = 1e-3;
  EXPECT_EQ(judged(), "green");
  kernel(body("float(x[i] * p.scale + p.shift)", type, ", P p"));
  EXPECT_THAT(judged(), HasSubstr("y"));
  // The structure in problem.json now lacks one field, so it is smaller than the kernel's
  // parameter.
  problem_["arguments"][3]["fields"].erase(2);
  EXPECT_THAT(judge().err, HasSubstr("parameter 3 has 24 bytes, the argument 'p' has 16"));
}

TEST_F(OwnData, ArgumentsThatAreNotTheParametersAreNamed) {
  const Json arguments = problem_["arguments"];
  problem_["arguments"] = {arguments[2], arguments[0], arguments[1]};
  EXPECT_THAT(
      judge().err,
      AllOf(HasSubstr("problem.json: reference: parameter 0 has 8 bytes, the argument 'n' has 4"),
            HasSubstr("allowed: arguments in the order of the parameters")));
  problem_["arguments"] = arguments;
  problem_["arguments"][2]["dtype"] = "f32";
  EXPECT_THAT(judge().err, HasSubstr("parameter 2 is an integer, the argument 'n' is f32"));
  problem_["arguments"][2]["dtype"] = "u32";
  EXPECT_EQ(judged(), "green");
  kernel(body("3 * x[i]", "", ", float more"));
  EXPECT_THAT(judged(),
              HasSubstr("triple.cu: the kernel has 4 parameters, the launch gives 3 arguments"));
  kernel(
      "__global__ void triple(const float* x, float* y, float n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 3 * x[i];\n}\n");
  EXPECT_THAT(judged(),
              HasSubstr("parameter 2 is a floating-point number, the argument 'n' is u32"));
}

TEST_F(OwnData, AnInputMayBeAFormulaOfTheIndex) {
  problem_["arguments"][0]["generator"] = {{"formula", "INDEX % 7 - N / 500"}};
  EXPECT_EQ(judged(), "green");
  // The results of this kernel are right only if the input x[i] is i % 7 - 2, as the formula says.
  kernel(body("3.f * (i % 7 - 2)"));
  EXPECT_EQ(judged(), "green");
  problem_["arguments"][0]["generator"] = {{"formula", "1 / (INDEX - 999)"}};
  EXPECT_THAT(judged(), HasSubstr("generator.formula"));
  problem_["arguments"][0]["generator"] = {{"formula", "INDEX + M"}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("unknown name 'M'"), HasSubstr("INDEX")));
}

TEST_F(OwnData, AnInputMayBeAFile) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 11);
  numbers("x_small.npy", values);
  problem_["arguments"][0]["generator"] = {{"file", "x_{shape}.npy"}};
  kernel(body("3.f * (i % 11)"));
  EXPECT_EQ(judged(), "green");
  numbers("x_small.npy", std::span(values).first(999));
  EXPECT_THAT(judged(), AllOf(HasSubstr("x_small.npy"), HasSubstr("has 999 elements"),
                              HasSubstr("allowed here: 1000")));
  problem_["arguments"][0]["generator"] = {{"file", "nowhere.npy"}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments: x.generator.file"), HasSubstr("nowhere.npy")));
  write("outside.npy", "");
  problem_["arguments"][0]["generator"] = {{"file", "../../outside.npy"}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("outside.npy' is "), HasSubstr("allowed: files inside "),
                              HasSubstr("kernel_templates")));
}

TEST_F(OwnData, AFileMayStandBesideAGenerator) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 11);
  numbers("x.npy", values);
  Json& generator = problem_["arguments"][0]["generator"];
  generator = {{"file", "x.npy"}, {"distribution", "normal"}};
  EXPECT_EQ(judged(), "green");
  // The file x.npy has x[i] = i % 11. The next kernel is right only for the data of the file, and
  // the one after it only for random data, so evo-judge must reject both.
  kernel(body("3.f * (i % 11)"));
  EXPECT_THAT(judged(), HasSubstr("y["));
  kernel(body("x[10] == 10 && x[9] == 9 ? 0 : 3 * x[i]"));
  EXPECT_THAT(judged(), HasSubstr("y[10] = 0, expected 30"));
  kernel(body("3 * x[i]"));
  generator["shapes"] = {"big"};
  EXPECT_THAT(judged(), HasSubstr("big"));
  problem_["shapes"]["big"] = {{"variables", {{"N", 2000}}}, {"check", true}};
  EXPECT_THAT(judged(), HasSubstr("x.npy"));
  generator["shapes"] = {"small"};
  EXPECT_EQ(judged(), "green") << "the file is too short for the shape big, which gets random data";
  generator.erase("distribution");
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments[0].generator.shapes"),
                              HasSubstr("needs a \"distribution\" beside the file")));
}

TEST_F(OwnData, AnOutputMayBeScratch) {
  Json scratch = {{"name", "scratch"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", "N"}};
  problem_["arguments"].push_back(scratch);
  Json& argument = problem_["arguments"].back();
  const std::string parameter = ", float* scratch";
  const std::string uses =
      "__device__ float tripled(float* scratch, int i, float x) {\n"
      "  scratch[i] = BLOCK + x;\n  return 3 * (scratch[i] - BLOCK);\n}\n";
  const std::string tripled = "tripled(scratch, i, x[i])";
  reference("3 * x[i]", "", parameter);
  kernel(body("3 * x[i]", "", parameter));
  EXPECT_THAT(judged(), HasSubstr("scratch")) << "the reference does not write scratch";
  argument["compare"] = false;
  EXPECT_EQ(judged(), "green") << "scratch is not compared";
  problem_["tolerance"]["max_abs_error"] = 1e-3;
  problem_["tolerance"]["bad_abs_error"] = 1e-3;
  problem_["tolerance"]["relative_l2"] = 1e-4;
  kernel(body(tripled, uses, parameter));
  EXPECT_EQ(judged(), "green") << "scratch is not compared with the reference";
  std::string beyond = uses;
  beyond.replace(beyond.find("scratch[i] ="), 12, "scratch[i + 1] = scratch[i] =");
  kernel(body(tripled, beyond, parameter));
  EXPECT_NE(judged(), "green") << "the kernel writes beyond the end of scratch";
  if (is_virtual()) {
    kernel(body("3 * x[i] + 0 * scratch[i]", "", parameter));
    EXPECT_NE(judged(), "green") << "the kernel reads the poison in scratch";
  }
  kernel(body(tripled, uses, parameter));
  problem_["arguments"][1]["compare"] = false;
  EXPECT_THAT(judged(), HasSubstr("at least one out or inout that is compared"));
  problem_["arguments"][1].erase("compare");
  argument["row"] = "10";
  EXPECT_THAT(judged(), HasSubstr("has no effect for an output with \"compare\": false"));
}

TEST_F(OwnData, TheReferenceMayBeAnotherConfiguration) {
  problem_["reference"] = {{"set", {{"BLOCK", 32}}}};
  EXPECT_EQ(judged("--set BLOCK=64"), "green");
  kernel(body("BLOCK == 32 ? 3 * x[i] : 3.01f * x[i]"));
  EXPECT_THAT(judged("--set BLOCK=64"), HasSubstr("y"));
  problem_["reference"]["set"] = {{"BLOCKS", 32}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("reference.set"), HasSubstr("BLOCKS")));
  problem_["reference"]["set"] = {{"BLOCK", 48}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("reference.set"), HasSubstr("48")));
}

TEST_F(OwnData, TheReferenceMayBeFiles) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 3.0F * static_cast<float>(i % 5);
  numbers("y_small.npy", values);
  problem_["reference"] = {{"files", {{"y", "y_{shape}.npy"}}}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("argument 'x' is drawn anew for every seed")));
  problem_["arguments"][0]["generator"] = {{"formula", "INDEX % 5"}};
  EXPECT_EQ(judged(), "green");
  kernel(body("3 * x[i] + (i == 777)"));
  EXPECT_THAT(judged(), HasSubstr("y[777]"));
  problem_["reference"]["files"] = {{"z", "y_small.npy"}};
  EXPECT_THAT(judged(), HasSubstr("no file for output 'y'"));
}

TEST_F(OwnData, TheReferenceMayBeAProgramThatIsAllowed) {
  problem_["reference"] = {{"program", {"python3", "reference.py"}}};
  program("reference.py", "save('y', [3 * v for v in load('x')])\n");
  EXPECT_THAT(judged(), AllOf(HasSubstr("reference.program: 'python3 reference.py'"),
                              HasSubstr("--allow-programs")));
  EXPECT_EQ(judged("--allow-programs"), "green");
  kernel(body("3 * x[i] + (i == 777)"));
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("y[777]"));
}

TEST_F(OwnData, AProgramThatFailsIsTheProblemsFault) {
  problem_["reference"] = {{"program", {"python3", "reference.py"}}};
  const auto complaint = [&](const std::string& text) {
    program("reference.py", text);
    return judged("--allow-programs");
  };
  EXPECT_THAT(complaint("raise ValueError('no such thing')\n"),
              AllOf(HasSubstr("exit code 1"), HasSubstr("no such thing")));
  EXPECT_THAT(complaint("pass\n"), HasSubstr("wrote no y.npy"));
  EXPECT_THAT(complaint("save('y', [0] * 999)\n"), HasSubstr("has 999 elements"));
  EXPECT_THAT(complaint("save('y', [0] * 1000)\n"), HasSubstr("gives 0 for all 1000 elements"));
  EXPECT_THAT(complaint("import os; os.kill(os.getpid(), 9)\n"), HasSubstr("killed by signal 9"));
  problem_["reference"]["program"] = {"no-such-program"};
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("cannot be started"));
}

TEST_F(OwnData, ACheckStandsBesideAReference) {
  problem_["check"] = {{"program", {"python3", "check.py"}}};
  program("check.py",
          "expected, got = load('expected_y'), load('output_y')\n"
          "if expected != got: sys.exit('not the very same')\n");
  EXPECT_EQ(judged("--allow-programs"), "green");
  kernel(body("3.0000005f * x[i]"));  // within the tolerance
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("not the very same"));
}

TEST_F(OwnData, ChangedDataAreAnotherProblem) {
  std::vector<float> values(1000, 1.0F);
  values[3] = 2;
  numbers("x.npy", values);
  problem_["arguments"][0]["generator"] = {{"file", "x.npy"}};
  const std::string key = key_of_a_run();
  EXPECT_EQ(key_of_a_run(), key);
  values[4] = 2;
  numbers("x.npy", values);
  const ProgramResult resumed = tune("--resume 1");
  EXPECT_EQ(resumed.exit_code, 2) << resumed.out << resumed.err;
  EXPECT_NE(key_of_a_run(), key);
}

/// evo-tune finds the helper files of a program by its imports and in the list `program_files` of
/// problem.json. A change in a helper file changes the problem's key.
TEST_F(OwnData, AChangedHelperOfAProgramIsAnotherProblem) {
  problem_["reference"] = {{"program", {"python3", "reference.py"}}};
  problem_["program_files"] = {"factor.txt"};
  program("reference.py",
          "from parts.helper import factor\nfactor *= float(open('factor.txt').read())\n"
          "save('y', [factor * v for v in load('x')])\n");
  const std::string folder = "kernel_templates/triple/";
  write(folder + "parts/helper.py", "factor = 3\n");
  write(folder + "factor.txt", "1\n");
  const std::string key = key_of_a_run();
  write(folder + "notes.txt", "nothing that a verdict depends on\n");
  EXPECT_EQ(key_of_a_run(), key);
  for (const char* file : {"parts/helper.py", "npy.py", "factor.txt"}) {
    const std::string old = read_text_file(folder_.path() / folder / file);
    write(folder + file, old + "\n");
    EXPECT_NE(key_of_a_run(), key) << file;
    write(folder + file, old);
  }
  EXPECT_EQ(key_of_a_run(), key);
  problem_["program_files"] = {"missing.txt"};
  EXPECT_THAT(judged("--allow-programs"),
              AllOf(HasSubstr("program_files[0]"), HasSubstr("no file 'missing.txt'")));
}

TEST_F(OwnData, AStrategyThatIsAProgramAndDiesLosesNothing) {
  space_["parameters"][0]["values"] = {32, 64, 96, 128};
  kernel(body("3 * x[i]"));
  write("mine.py", R"(import json, os, sys
blocks = [b for b in json.loads(sys.stdin.readline())["parameters"][0]["values"]]
for line in sys.stdin:
    if "propose" in json.loads(line):
        if len(blocks) < 3 and os.path.exists("die"): sys.exit(5)
        print(json.dumps({"proposals": [{"BLOCK": blocks.pop(), "PER_THREAD": 1}] if blocks else []}), flush=True)
)");
  write("die", "");
  const std::string tune =
      "evo-tune --device " + device() +
      " --jobs 1 --generations 9 --offspring 1 --quiet --explain none "
      "--space search_spaces/triple.json --strategy 'program: python3 mine.py'";
  const ProgramResult died = run(tune);
  EXPECT_EQ(died.exit_code, 2);
  EXPECT_THAT(died.err,
              HasSubstr("'program: python3 mine.py': the program ended with exit code 5"));
  const auto evaluated = [&] {
    return Store::open_read_only(folder_.path() / "evo.db").evaluations(1).size();
  };
  const std::size_t kept = evaluated();
  EXPECT_GE(kept, 1U);
  EXPECT_EQ(Store::open_read_only(folder_.path() / "evo.db").run(1).status,
            RunStatus::kInterrupted);
  std::filesystem::remove(folder_.path() / "die");
  const ProgramResult resumed = run(tune + " --resume");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(evaluated(), 4U);
}

TEST_F(OwnData, DataThatIsNoDrawIsCheckedOnceByAnInterpreterAndLaunchedTwice) {
  if (!is_virtual()) GTEST_SKIP() << "a GPU repeats checks, because races may show later";
  problem_["arguments"][0]["generator"] = {{"formula", "INDEX % 7"}};
  kernel(body("3 * x[i]"));
  reference("3 * x[i]");
  const Json judged = Json::parse(judge().out);
  EXPECT_EQ(judged["verdict"], "green");
  EXPECT_EQ(judged["checks"].size(), 1U);
  // The results of this kernel are right only in its first launch, so evo-judge must reject it.
  kernel(body("3 * x[i] + launches; if (i == 0) ++launches", "__device__ int launches = 0;\n"));
  EXPECT_NE(OwnData::judged(), "green");
}

}  // namespace
}  // namespace evo
