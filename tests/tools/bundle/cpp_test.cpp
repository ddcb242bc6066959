// Tests `evo-export --bundle --cpp`: configures, builds and runs a C++ program that uses only the
// bundle's folder, with a fake CUDA driver that records its calls.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCppManifest = R"({
  "entry": "copy", "shape": {"name": "mission"}, "macros": {"TILE": 1}, "valid": [],
  "arguments": [
    {"name": "x", "direction": "in", "dtype": "e4m3", "extent": {"expression": "B*S"}},
    {"name": "stream", "direction": "out", "dtype": "f32", "extent": {"expression": "B*S"}},
    {"name": "scale", "direction": "scalar", "dtype": "f32", "value": {"expression": "X"}}],
  "launch": {"grid": [{"expression": "B"}], "block": [{"expression": "S"}],
             "dynamic_shared_bytes": {"expression": "0"}}})";

constexpr const char* kProgram = R"(
#include <cstdio>
#include <sdpa.hpp>

extern "C" void fake_reset(const char*, int, int);
extern "C" void fake_context(void*);
extern "C" std::size_t fake_log(char*, std::size_t);

int main() {
  static char log[65536];
  alignas(256) static char in[256];
  alignas(256) static float out[256];
  fake_reset("NVIDIA H200", 90, 2);
  fake_context(log);
  try {
    sdpa(nullptr, in, out, {4, 64, 0.5});
  } catch (const evo_tune::Error& error) {
    std::puts(error.what());
  }
  sdpa_bundle().allow_unchecked("B");
  sdpa(nullptr, in, out, {4, 64, 0.5});
  fake_log(log, sizeof log);
  std::puts(log);
  try {
    sdpa(nullptr, nullptr, out, {4, 64, 0.5});
  } catch (const evo_tune::Error& error) {
    std::puts(error.what());
  }
  std::puts(sdpa_bundle().choose({4, 64, 0.5}).why.c_str());
  try {
    (void)sdpa_bundle().choose({4, 64});
  } catch (const evo_tune::Error& error) {
    std::puts(error.what());
  }
}
)";

constexpr const char* kProject = R"(
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(sdpa REQUIRED CONFIG)
find_package(sdpa REQUIRED CONFIG)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE sdpa::sdpa ${FAKE_DRIVER})
)";

class ExportCpp : public testing::Test {
 protected:
  ExportCpp() {
    RunInfo info = sample::run_info();
    info.problem.text = R"({"name": "copy", "shapes": {
        "small": {"variables": {"B": 1, "S": 1, "X": 0.5}},
        "mission": {"variables": {"B": 2, "S": 64, "X": 0.5}}}})";
    Store store = Store::open(folder_.path() / "evo.db");
    const RunId run = store.start_run(info);
    EvaluationRecord record =
        sample::green(0, 1, store.put_compilation(sample::compilation("k")), 10);
    record.manifest_json = kCppManifest;
    const CandidateId best = store.record_evaluation(run, record);
    store.record_generation(run, {.number = 0, .elite = {best}});
  }
  std::string file(const std::string& name) const { return read_text_file(folder_.path() / name); }

  sample::TemporaryFolder folder_;
};

TEST_F(ExportCpp, AProgramFindsThePackageAndCallsTheFunction) {
  const ProgramResult exported =
      run_program("evo-export --bundle out --name sdpa --cpp", folder_.path());
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  // The C++ function names the kernel's argument `stream` `stream_`, because the function's own
  // first parameter is `stream`.
  EXPECT_THAT(file("out/sdpa.hpp"),
              HasSubstr("inline void sdpa(CUstream_st* stream,\n    const void* x,\n"
                        "    float* stream_,\n    const sdpa_shape& shape) {"));
  EXPECT_THAT(
      file("out/sdpa.hpp"),
      HasSubstr("struct sdpa_shape {\n  std::int64_t B;\n  std::int64_t S;\n  double X;\n};"));
  write_file(folder_.path() / "main.cpp", kProgram);
  write_file(folder_.path() / "CMakeLists.txt", kProject);
  const std::string quiet = " >build.log 2>&1 ";
  const std::string folder = folder_.path().string();
  const std::string build = std::string(EVO_CMAKE) + " -S . -B b -Dsdpa_DIR=" + folder +
                            "/out -DFAKE_DRIVER=" EVO_FAKE_DRIVER + quiet + "&& " + EVO_CMAKE +
                            " --build b" + quiet;
  ASSERT_EQ(std::system(("cd " + folder + " && " + build).c_str()), 0) << file("build.log");
  ASSERT_EQ(
      std::system(("cd " + folder + " && EVO_TUNE_DRIVER=" EVO_FAKE_DRIVER " b/user >user.log 2>&1")
                      .c_str()),
      0)
      << file("user.log");
  EXPECT_THAT(file("user.log"),
              AllOf(HasSubstr("B = 4 was not checked: 'B in [1, 2]' does not hold"),
                    HasSubstr("launch copy 4,1,1 64,1,1 0 on (nil):"),
                    HasSubstr(folder + "/out: argument 'x' is null"),
                    HasSubstr(folder + "/out: got 2 sizes; allowed: 3 (B, S, X)"),
                    HasSubstr("tuned for the nearest shape with a valid kernel: mission")));
  // If the bundle's folder was moved, the environment variable SDPA_BUNDLE gives its new path.
  ASSERT_EQ(std::system(("cd " + folder +
                         " && mv out moved && SDPA_BUNDLE=moved EVO_TUNE_DRIVER=" EVO_FAKE_DRIVER
                         " b/user >user.log 2>&1")
                            .c_str()),
            0)
      << file("user.log");
}

TEST_F(ExportCpp, TheHeaderNeedsNoCMake) {
  const ProgramResult exported =
      run_program("evo-export --bundle out --name sdpa --cpp", folder_.path());
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  write_file(folder_.path() / "main.cpp", kProgram);
  write_file(folder_.path() / "named.cpp",
             "#include <sdpa.hpp>\nvoid f(const void* x, float* y) {\n"
             "  sdpa(nullptr, x, y, {.B = 4, .S = 64, .X = 0.5});\n}\n");
  const std::string folder = folder_.path().string();
  const auto succeeds = [&](const std::string& command) {
    return std::system(("cd " + folder + " && " + command + " >made.log 2>&1").c_str()) == 0;
  };
  const std::string compiler = "c++ -Wall -Wextra -Wpedantic -Werror -I out ";
  EXPECT_TRUE(succeeds(compiler + "-std=c++20 -fsyntax-only named.cpp")) << file("made.log");
  EXPECT_TRUE(succeeds(compiler + "-std=c++17 -fsyntax-only main.cpp")) << file("made.log");
  ASSERT_TRUE(succeeds(compiler + "-std=c++17 main.cpp -o user " EVO_FAKE_DRIVER " -ldl"))
      << file("made.log");
  EXPECT_FALSE(succeeds("EVO_TUNE_DRIVER=" EVO_FAKE_DRIVER " ./user"));
  EXPECT_THAT(file("made.log"), HasSubstr("set the environment variable SDPA_BUNDLE, or "
                                          "compile with -DSDPA_BUNDLE_DIR="));
  EXPECT_TRUE(succeeds("SDPA_BUNDLE=out EVO_TUNE_DRIVER=" EVO_FAKE_DRIVER " ./user"));
  EXPECT_THAT(file("made.log"), HasSubstr("launch copy 4,1,1 64,1,1 0 on (nil):"));
}

TEST_F(ExportCpp, ReplacesWhatItWroteAndNobodysFiles) {
  const auto exported = [&] {
    return run_program("evo-export --bundle out --name sdpa --cpp", folder_.path());
  };
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "out"))
      found.insert(entry.path().filename());
    return found;
  };
  std::filesystem::create_directory(folder_.path() / "out");
  for (const std::string name : {"sdpa.hpp", "sdpaConfig.cmake", "evo_tune.hpp"}) {
    write_file(folder_.path() / "out" / name, "mine\n");
    const ProgramResult refused = exported();
    EXPECT_EQ(refused.exit_code, 2) << name;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("out/" + name), HasSubstr("did not write it")));
    EXPECT_EQ(refused.out, "") << "evo-export must not report files that it did not write";
    EXPECT_EQ(names(), std::set<std::string>{name});
    EXPECT_EQ(file("out/" + name), "mine\n");
    std::filesystem::remove(folder_.path() / "out" / name);
  }
  ASSERT_EQ(exported().exit_code, 0);
  // Changes each generated file as if another version of evo-export had written it.
  for (const std::string name : {"sdpa.hpp", "sdpaConfig.cmake", "evo_tune_plan.hpp"}) {
    const std::string content = file("out/" + name);
    write_file(folder_.path() / "out" / name, content + "\n");
    EXPECT_EQ(exported().exit_code, 0) << name;
    EXPECT_EQ(file("out/" + name), content);
  }
}

TEST_F(ExportCpp, ANameThatIsNoFunctionIsRefused) {
  for (const char* name : {"a-b", "class", "__x"}) {
    const ProgramResult result =
        run_program(std::string("evo-export --bundle out --cpp --name ") + name, folder_.path());
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("--cpp: the function would be named"), HasSubstr(name)));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
  EXPECT_THAT(run_program("evo-export --out . --cpp", folder_.path()).err, HasSubstr("--bundle"));
}

}  // namespace
}  // namespace evo
