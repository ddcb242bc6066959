// What kernels of others are given and what they are held against: __constant__ variables,
// structures, formulas and files; references and checks that are not a kernel. Through the real
// programs, NVRTC and the virtual GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "db/store.hpp"
#include "engine/problem/npy.hpp"
#include "tests/cli/own_kernel.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// y = x * 3 by default; programs are Python without NumPy.
class OwnData : public OwnKernel {
 protected:
  OwnData() {
    problem_["templates"]["triple"]["entry"] = "triple";
    space_["parameters"][1]["values"] = {1};
    kernel(body("3 * x[i]"));
    write("kernel_templates/triple/npy.py", R"(import array, json, sys
folder = sys.argv[-1]
case = json.load(open(folder + "/case.json"))
def load(name):
    data = open(f"{folder}/{name}.npy", "rb").read()
    return array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])
def save(name, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(f"{folder}/{name}.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        f.write(array.array("f", values).tobytes())
)");
  }

  static std::string body(const std::string& value, const std::string& before = {},
                          const std::string& parameters = {}) {
    return before + "__global__ void triple(const float* x, float* y, int n" + parameters +
           ") {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = " + value +
           ";\n}\n";
  }
  void reference(const std::string& value, const std::string& before = {},
                 const std::string& parameters = {}) const {
    std::string text = body(value, before, parameters);
    text.replace(text.find("triple("), 7, "expected(");
    write("kernel_templates/triple/reference.cu", text);
  }
  void program(const std::string& name, const std::string& text) const {
    write("kernel_templates/triple/" + name, "from npy import *\n" + text);
  }
  void numbers(const std::string& name, std::span<const float> values) const {
    const auto file = folder_.path() / "kernel_templates/triple" / name;
    write_npy(file, Dtype::kF32, std::as_bytes(values));
  }

  std::string reason(const ProgramResult& judged) const {
    if (judged.out.empty()) return judged.err;
    const Json found = Json::parse(judged.out);
    return found.contains("rejection") && !found["rejection"].is_null()
               ? found["rejection"]["reason"].get<std::string>()
               : "green";
  }
  std::string judged(const std::string& more = {}) const { return reason(judge(more)); }
  /// The problem's key in the newest run of the database.
  std::string key_of_a_run() const {
    const ProgramResult tuned = run("evo-tune --device " + device() +
                                    " --jobs 1 --generations 1 --children 1 --quiet "
                                    "--allow-programs --space search_spaces/triple.json");
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
    return Store::open_read_only(folder_.path() / "evo.db").runs().back().info.problem.key;
  }
};

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
  EXPECT_THAT(judged(), HasSubstr("__constant__ factors has 8 bytes, argument 'factors' 16"));
}

TEST_F(OwnData, BytesOfAConstantThatNobodySetsAreNotGreen) {
  const std::string variable = "__constant__ float factors[8];\n";
  problem_["arguments"].push_back(kFactors);
  kernel(body("factors[i % 4] * x[i]", variable));
  reference("x[i] * factors[i & 3]", variable);
  EXPECT_EQ(judged(), "green") << "what is not set is not read";
  kernel(body("(factors[i % 4] + factors[7]) * x[i]", variable));
  reference("x[i] * (factors[i & 3] + factors[7])", variable);
  const std::string why = judged();
  EXPECT_NE(why, "green") << "kernel and reference agree on zeros";
  if (is_virtual()) {
    EXPECT_THAT(
        why, AllOf(HasSubstr("uninitialised data"), HasSubstr("byte 28 of the 32 of 'factors'")));
  }
  // What the source gives a value needs no other.
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
                                  " --jobs 1 --generations 1 --children 1 --quiet "
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
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments: 'x' stands behind a __constant__ variable")));
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
  // One field less is another size.
  problem_["arguments"][3]["fields"].erase(2);
  EXPECT_THAT(judge().err, HasSubstr("parameter 3 has 24 bytes, the argument 16"));
}

/// y[i] is the texel i of `plane`, 40 wide.
class OwnTexture : public OwnData {
 protected:
  OwnTexture() {
    problem_["arguments"].push_back({{"name", "plane"},
                                     {"kind", "texture"},
                                     {"dtype", "f32"},
                                     {"width", 40},
                                     {"height", "N / 40"},
                                     {"generator", {{"distribution", "normal"}}}});
    problem_["reference"] = {{"program", {"python3", "reference.py"}}};
    program("reference.py", "save('y', [a + 2 * t for a, t in zip(load('x'), load('plane'))])\n");
    read_by("tex2D<float>(plane, i % 40 + 0.5f, i / 40 + 0.5f)");
  }
  void read_by(const std::string& texel) const {
    kernel(body("x[i] + 2 * " + texel, {}, ", cudaTextureObject_t plane"));
  }
  Json& plane() { return problem_["arguments"][3]; }
  std::string judged_so(const std::string& texel) const {
    read_by(texel);
    return judged("--allow-programs");
  }
};

TEST_F(OwnTexture, OfEveryMemoryIsAnArgument) {
  EXPECT_EQ(judged("--allow-programs"), "green");
  EXPECT_THAT(judged_so("tex2D<float>(plane, i % 40 + 1.5f, i / 40 + 0.5f)"), HasSubstr("y["));
  plane()["memory"] = "pitched";
  EXPECT_EQ(judged_so("tex2D<float>(plane, i % 40 + 0.5f, i / 40 + 0.5f)"), "green");
  plane()["memory"] = "linear";
  plane().erase("height");
  plane()["width"] = "N";
  EXPECT_EQ(judged_so("tex1Dfetch<float>(plane, i)"), "green");
  plane()["memory"] = "array";
  EXPECT_EQ(judged_so("tex1D<float>(plane, i + 0.5f)"), "green");
}

TEST_F(OwnTexture, HasFiltersAddressesAndChannels) {
  plane()["dtype"] = "u8";
  plane()["channels"] = 2;
  plane()["generator"] = {{"distribution", "integers"}, {"low", 0}, {"high", 255}};
  plane()["filter"] = "linear";
  plane()["normalized_values"] = true;
  plane()["normalized_coordinates"] = true;
  plane()["address_x"] = "wrap";
  program("reference.py", R"(data = open(folder + "/plane.npy", "rb").read()
texels = data[10 + int.from_bytes(data[8:10], "little"):]
def texel(i, j, channel): return texels[2 * (j * 40 + i % 40) + channel] / 255
save('y', [a + texel(i + 1, i // 40, 0) + texel(i % 40 + 1, i // 40, 1) for i, a in
           [(i, a) for i, a in enumerate(load('x'))]])
)");
  const std::string at = "(plane, (i % 40 + 41.5f) / 40, (i / 40 + 0.5f) / (n / 40))";
  kernel(body("x[i] + tex2D<float2>" + at + ".x + tex2D<float2>" + at + ".y", {},
              ", cudaTextureObject_t plane"));
  problem_["tolerance"]["max_abs_error"] = 0.01;  // weights have 8 bits
  problem_["tolerance"]["bad_abs_error"] = 0.01;
  problem_["tolerance"]["relative_l2"] = 0.01;
  EXPECT_EQ(judged("--allow-programs"), "green");
  plane()["address_x"] = "clamp";
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("y["));
}

TEST_F(OwnTexture, IsInTheManifest) {
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --children 1 --quiet "
                                  "--allow-programs --space search_spaces/triple.json");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_EQ(run("evo-export --rank 1 --out out --name best").exit_code, 0);
  const Json found = read_json_file(folder_.path() / "out/best.json")["arguments"][3];
  EXPECT_EQ(found["kind"], "texture");
  EXPECT_EQ(found["memory"], "array");
  EXPECT_EQ(found["width"], 40);
  EXPECT_EQ(found["height"], 25);
}

TEST_F(OwnTexture, ThatCudaDoesNotTakeIsRefusedByName) {
  const Json good = plane();
  const auto refusal = [&](const std::string& key, const Json& value) {
    plane() = good;
    plane()[key] = value;
    return judged("--allow-programs");
  };
  EXPECT_THAT(refusal("dtype", "f64"), AllOf(HasSubstr("arguments[3].dtype"), HasSubstr("u8, i8")));
  EXPECT_THAT(refusal("channels", 3), HasSubstr("arguments[3].channels: 3: allowed are 1, 2"));
  EXPECT_THAT(refusal("width", "N / 3"), HasSubstr("the width of texture 'plane' is 333.3"));
  EXPECT_THAT(refusal("address_x", "wrap"),
              HasSubstr("texture 'plane': wrap and mirror need normalized coordinates"));
  EXPECT_THAT(refusal("memory", "layered"), HasSubstr(R"(allowed: "array", "pitched", "linear")"));
  EXPECT_THAT(refusal("memory", "linear"), HasSubstr("linear memory has one dimension"));
  EXPECT_THAT(refusal("extent", "N"), HasSubstr("arguments[3].extent"));
}

TEST_F(OwnData, AnInputMayBeAFormulaOfTheIndex) {
  problem_["arguments"][0]["generator"] = {{"formula", "INDEX % 7 - N / 500"}};
  EXPECT_EQ(judged(), "green");
  // What the kernel was given: this is right only where x[i] is i % 7 - 2.
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
                              HasSubstr("allowed here are 1000")));
  problem_["arguments"][0]["generator"] = {{"file", "nowhere.npy"}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments: x.generator.file"), HasSubstr("nowhere.npy")));
  write("outside.npy", "");
  problem_["arguments"][0]["generator"] = {{"file", "../../outside.npy"}};
  EXPECT_THAT(judged(), HasSubstr("outside of the folder of problems"));
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

/// Sums of parts, as many as the configuration says.
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
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("the check program refuses it: sums to"));
  // An element that is never written is found as everywhere else.
  kernel(
      "__global__ void triple(const float* x, float* y, int n) {\n"
      "  if (threadIdx.x) y[blockIdx.x * BLOCK + threadIdx.x] = x[threadIdx.x];\n}\n");
  EXPECT_THAT(judged("--allow-programs"), HasSubstr(is_virtual() ? "never written" : "refuses it"));
}

/// The code is the same, what it has to write is not.
TEST_F(OwnCheck, KernelsWithOtherOutputsAreNotOneKernel) {
  space_["parameters"] = {{{"macro", "BLOCK"}, {"values", {32}}},
                          {{"macro", "PARTS"}, {"values", {2}}},
                          {{"macro", "MORE"}, {"values", {0, 1}}}};
  problem_["arguments"][1]["extent"] = "PARTS * BLOCK + MORE";
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --strategy random --children 4 "
                                  "--space search_spaces/triple.json --allow-programs");
  EXPECT_THAT(tuned.err, HasSubstr("2 evaluated · 1 green · rejected: correctness 1"));
}

TEST_F(OwnCheck, ACheckThatCannotFailIsRefused) {
  program("check.py", "print('fine')\n");
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("it accepts outputs that hold zeros only"));
  program("check.py", "sys.exit(0 if any(load('output_y')) else 'zeros')\n");
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("it accepts outputs that hold noise"));
}

TEST_F(OwnCheck, ACheckThatFailsIsNoVerdict) {
  program("check.py", "import no_such_module\n");
  EXPECT_THAT(judged("--allow-programs"),
              AllOf(HasSubstr("check.program"), HasSubstr("No module named 'no_such_module'")));
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
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("it accepts 'z' whatever it holds"));
  problem_["arguments"][3]["degenerate"] = true;
  EXPECT_EQ(judged("--allow-programs"), "green");
  problem_["arguments"][3]["degenerate"] = false;
  program("check.py",
          "if not abs(sum(load('output_y')) - sum(load('x'))) < 1: sys.exit('no')\n"
          "if any(v != 42 for v in load('output_z')): sys.exit('z')\n");
  EXPECT_EQ(judged("--allow-programs"), "green");
}

/// What a kernel leaves can break a check that works: that kernel is rejected, the run goes on.
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
        run("evo-tune --device virtual:l4 --jobs 1 --generations 1 --strategy random --children 4 "
            "--space search_spaces/triple.json --allow-programs");
    EXPECT_EQ(tuned.exit_code, 0) << failure << tuned.err;
    EXPECT_THAT(tuned.err, HasSubstr("4 evaluated · 2 green · rejected: correctness 2"));
  }
  EXPECT_THAT(judged("--allow-programs --set PARTS=3"),
              AllOf(HasSubstr("the check program fails on it: wrote more than 64 MiB")));
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
              AllOf(HasSubstr("problem.json: bytes: "), HasSubstr("depends on macros")));
}

TEST_F(OwnCheck, OutputsSizedByMacrosNeedACheck) {
  problem_.erase("check");
  problem_["reference"] = {{"set", Json::object()}};
  EXPECT_THAT(judged(), AllOf(HasSubstr("arguments: y.extent: 'PARTS * BLOCK'"),
                              HasSubstr("\"check\" program")));
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
  EXPECT_NE(key_of_a_run(), key);
}

/// What a program of the problem may import, or is said to read.
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

}  // namespace
}  // namespace evo
