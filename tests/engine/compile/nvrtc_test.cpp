// Tests compilation with NVRTC. For example, the resources (registers, spills, shared memory) agree
// with the cubin and with the report of the program ptxas, sources cannot forge these resources,
// and a source that changes a macro of the configuration is rejected.

#include "engine/compile/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "engine/compile/ptxas_log.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/random.hpp"
#include "engine/cubin/cubin.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/compile/nvrtc_fixture.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_P(Nvrtc, LineInformationNamesFilesAsTheSourceDoes) {
  const CompileRequest with_header{
      {"kernels/k.cu",
       "#include \"common/half.cuh\"\n"
       "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = half_of(x[threadIdx.x]); }\n",
       {{"common/half.cuh", "__device__ inline float half_of(float v) {\n  return v / 2;\n}\n"}}},
      {"k"},
      GetParam(),
      {"-lineinfo"}};
  const std::string ptx = built(with_header).ptx;
  EXPECT_THAT(ptx, AllOf(HasSubstr("\"kernels/k.cu\""), HasSubstr("\"common/half.cuh\"")));
}

TEST_P(Nvrtc, ReportsResourcesThatAgreeWithTheCubin) {
  int before = 0;
  for (const int live : {2, 24, 64}) {
    const Compiled compiled = built(nvrtc_request(GetParam(), live, 256, 128));
    EXPECT_GT(compiled.resources.registers, before);
    const std::optional<CubinFacts> facts = read_cubin(compiled.cubin, "k");
    ASSERT_TRUE(facts.has_value());
    EXPECT_EQ(facts->registers, compiled.resources.registers);
    EXPECT_EQ(facts->static_shared_bytes, 1024);
    EXPECT_EQ(facts->max_threads, 128);
    EXPECT_EQ(compiled.resources.max_threads, 128);
    EXPECT_EQ(compiled.resources.static_shared_bytes, 1024);
    EXPECT_EQ(compiled.resources.spill_store_bytes, 0);
    EXPECT_THAT(compiled.ptx, HasSubstr(".target " + GetParam()));
    EXPECT_GT(compiled.compile_ms, 0);
    before = compiled.resources.registers;
  }
}

TEST_P(Nvrtc, SpillsAreSeen) {
  // With 1024 threads per CTA, a thread has only 64 registers for 120 live values, so it must
  // spill.
  const Compiled compiled = built(nvrtc_request(GetParam(), 120, 1, 1024));
  EXPECT_LE(compiled.resources.registers, 64);
  EXPECT_GT(compiled.resources.spill_store_bytes + compiled.resources.spill_load_bytes, 0);
}

TEST_P(Nvrtc, AgreesWithTheProgramPtxas) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas on PATH";
  const sample::TemporaryFolder folder;
  const std::string base = folder.path() / "k";
  for (const auto& [live, threads] :
       {std::pair(2, 128), std::pair(64, 128), std::pair(120, 1024)}) {
    const Compiled compiled = built(nvrtc_request(GetParam(), live, 64, threads));
    write_file(base + ".ptx", compiled.ptx);
    const std::string command = "ptxas -v -arch=" + GetParam() + " " + base + ".ptx -o " + base +
                                ".cubin > " + base + ".log 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_text_file(base + ".log");
    const std::string cubin = read_text_file(base + ".cubin");
    auto parsed = parse_ptxas_log(read_text_file(base + ".log"), "k", cubin_functions(cubin));
    auto* reported = std::get_if<PtxasReport>(&parsed);
    ASSERT_NE(reported, nullptr) << std::get<std::string>(parsed);
    reported->resources.max_threads = threads;  // known only from the machine code
    EXPECT_EQ(reported->resources, compiled.resources) << compiled.log;
    const std::optional<CubinFacts> facts = read_cubin(cubin, "k");
    ASSERT_TRUE(facts.has_value());
    EXPECT_EQ(facts->registers, reported->resources.registers);
    EXPECT_EQ(facts->frame_bytes, reported->frame_bytes);
  }
}

TEST_P(Nvrtc, ADamagedCubinNeverCrashesTheReader) {
  const Compiled compiled = built(nvrtc_request(GetParam(), 8, 16, 128));
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = compiled.cubin;
    for (int i = 0; i < 20; ++i)
      damaged[random.below(damaged.size())] ^= static_cast<char>(random.below(256));
    if (round % 3 == 0) damaged.resize(random.below(damaged.size()));
    (void)read_cubin(damaged, "k");
    (void)parameter_bytes(damaged, "k");
    (void)cubin_functions(damaged);
  }
  EXPECT_FALSE(read_cubin(compiled.cubin, "none"));
}

TEST_P(Nvrtc, TheCubinTellsTheSizesOfItsParameters) {
  const CompileRequest with_parameters{
      {"k.cu",
       "struct Pair { float a; char b[7]; };\n"
       "extern \"C\" __global__ void k(const float* x, char c, short s, double d, Pair p, int n,"
       " const int* __restrict__ y, unsigned char z) { if (n) *(float*)x = d + p.b[3] + c + s + *y "
       "+"
       " z; }\n"
       "extern \"C\" __global__ void none() {}\n",
       {}},
      {"k", "none"},
      GetParam(),
      {}};
  const Compiled compiled = built(with_parameters);
  const std::vector<std::size_t> expected = {8, 1, 2, 8, 12, 4, 8, 1};
  EXPECT_EQ(parameter_bytes(compiled.cubin, "k"), expected);
  EXPECT_EQ(parameter_bytes(compiled.cubin, "none"), std::vector<std::size_t>());
  EXPECT_EQ(parameter_bytes(compiled.cubin, "k2"), std::nullopt);
}

TEST_P(Nvrtc, EqualCodeIsOneKernelAndOtherCodeIsNot) {
  CompileRequest plain = nvrtc_request(GetParam(), 8, 16, 128);
  CompileRequest more = plain;
  more.options.emplace_back("-DUNUSED=7");
  EXPECT_EQ(built(plain).ptx_hash, built(more).ptx_hash);
  EXPECT_NE(plain.key(compiler_->version()), more.key(compiler_->version()));
  EXPECT_NE(built(plain).ptx_hash, built(nvrtc_request(GetParam(), 9, 16, 128)).ptx_hash);
}

TEST_P(Nvrtc, OptionsReachTheCompiler) {
  CompileRequest limited = nvrtc_request(GetParam(), 64, 16, 128);
  const int free = built(limited).resources.registers;
  limited.options.emplace_back("--maxrregcount=32");
  limited.source.text.replace(limited.source.text.find(" __launch_bounds__(THREADS)"), 27, "");
  EXPECT_GT(free, 32);
  EXPECT_LE(built(limited).resources.registers, 32);
}

TEST_P(Nvrtc, AKernelThatDoesNotCompileIsARejectionWithItsFirstError) {
  CompileRequest bad = nvrtc_request(GetParam(), 8, 16, 128);
  bad.source.text += "\nint broken( { return undefined_name; }\n";
  const CompileAnswer outcome = compiler_->compile(bad);
  const auto& rejection = std::get<Rejection>(outcome);
  EXPECT_EQ(rejection.gate, Gate::kBuild);
  EXPECT_THAT(rejection.reason, AllOf(HasSubstr("k.cu("), HasSubstr("error")));
  EXPECT_THAT(rejection.detail, HasSubstr(rejection.reason));
}

TEST_P(Nvrtc, AMacroOfTheConfigurationKeepsItsValue) {
  const sample::TemporaryFolder folder;
  write_file(folder.path() / "sets.h", "#define TILE 7\n");
  write_file(folder.path() / "changes.h", "#undef TILE\n#define TILE 7\n");
  const auto said_of = [&](const std::string& before) {
    const std::string kernel = "extern \"C\" __global__ void k(int* y) { y[0] = TILE; }\n";
    const CompileRequest asked{{"k.cu", before + kernel, {}},
                               {"k"},
                               GetParam(),
                               {"-DTILE=5", "-I", folder.path().string()}};
    const CompileOutcome outcome = outcome_of(compiler_->compile(asked));
    const auto* rejection = std::get_if<Rejection>(&outcome);
    return rejection == nullptr ? std::string() : rejection->reason;
  };
  EXPECT_EQ(said_of(""), "");
  EXPECT_EQ(said_of("#define TILE 5\n"), "") << "the source defines the same value";
  EXPECT_EQ(said_of("#if TILE == 4\n#define TILE 6\n#endif\n"), "") << "the condition is false";
  EXPECT_EQ(said_of("#ifndef TILE\n#include <sets.h>\n#endif\n"), "");
  const std::string why = " #define TILE: the configuration sets this macro to 5";
  EXPECT_THAT(said_of("#if TILE == 5\n#define TILE 6\n#endif\n"), HasSubstr("k.cu:2:" + why));
  EXPECT_THAT(said_of("#undef TILE\n#define TILE 6\n"), HasSubstr("k.cu:2:" + why));
  EXPECT_THAT(said_of("#pragma nv_diag_suppress 47\n#define TILE 6\n"), HasSubstr("k.cu:2:" + why));
  EXPECT_THAT(said_of("#include <sets.h>\n"), HasSubstr("sets.h:1:" + why));
  EXPECT_THAT(said_of("#include <changes.h>\n"), HasSubstr("changes.h:2:" + why));
  EXPECT_THAT(said_of("#define WAS TILE\n#undef TILE\nenum { TILE = 9 };\n"),
              HasSubstr("k.cu: #undef TILE"));
}

TEST_P(Nvrtc, PlantedKernelsCompileAsTheirTestsExpect) {
  const auto root = std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted/kernel_templates";
  const Json space = read_json_file(root.parent_path() / "search_spaces/planted.json");
  std::vector<std::string> names;
  int number = 0;
  for (const std::string name : space["parameters"][0]["values"]) {
    std::string upper = name;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    names.push_back("-DBUG_" + upper + "=" + std::to_string(number++));
  }
  for (int bug = 0; bug < number; ++bug) {
    CompileRequest planted = {
        load_source(root / "planted/planted.cu", root), {"planted"}, GetParam(), names};
    for (const char* option : {"-DTHREADS=64", "-DITEMS=2"}) planted.options.emplace_back(option);
    planted.options.push_back("-DBUG=" + std::to_string(bug));
    const bool compiles = std::holds_alternative<Compiled>(compiler_->compile(planted));
    EXPECT_EQ(compiles,
              names[static_cast<std::size_t>(bug)].find("DOES_NOT_COMPILE") == std::string::npos)
        << names[static_cast<std::size_t>(bug)];
  }
}

/// A source can print text to the compiler's log in many ways, for example by #warning. Such text
/// never changes the resources that are read from the log, but the source may be rejected.
TEST_P(Nvrtc, NothingASourcePrintsIsTakenForAReport) {
  const std::string report =
      "Compiling entry function 'k' for '" + GetParam() +
      "' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads, Used 32 registers";
  const std::vector<std::string> prints = {
      "#warning " + report, "#pragma message(\"" + report + "\")",
      "#line 7 \"ptxas info    : " + report + "\"\n#warning x",
      "#pragma message(\"\\nptxas info    : Compiling entry function 'k' for '" + GetParam() +
          "'\\nptxas info    : Used 32 registers\\n\")",
      "[[deprecated(\"" + report +
          "\")]] __device__ int old();\n__device__ int use() { return old(); }"};
  for (const std::string& print : prints) {
    CompileRequest honest = nvrtc_request(GetParam(), 120, 1, 1024);
    const Compiled compiled = built(honest);
    honest.source.text = print + "\n" + honest.source.text;
    const CompileOutcome outcome = outcome_of(compiler_->compile(honest));
    if (const auto* believed = std::get_if<Compiled>(&outcome)) {
      EXPECT_EQ(believed->resources, compiled.resources) << print;
    } else {
      EXPECT_THAT(std::get<Rejection>(outcome).reason, HasSubstr("unexpected text")) << print;
    }
  }
}

TEST_P(Nvrtc, TooMuchSharedMemoryIsARejectionThatCanBeStored) {
  CompileRequest large = nvrtc_request(GetParam(), 2, 60000, 128);
  const CompileOutcome outcome = outcome_of(compiler_->compile(large));
  const auto& rejection = std::get<Rejection>(outcome);
  EXPECT_THAT(rejection.reason, HasSubstr("too much shared data"));
  EXPECT_EQ(rejection.detail.find('\0'), std::string::npos);
}

/// The exported source, compiled without the candidate's headers and -D options, gives PTX with the
/// same hash as the candidate's PTX.
TEST_P(Nvrtc, TheExpandedSourceIsTheSameKernel) {
  const sample::TemporaryFolder folder;
  const auto root = folder.path();
  std::filesystem::create_directories(root / "k");
  write_file(root / "common.cuh",
             "#pragma once\n#include \"k/guarded.cuh\"\nconstexpr int kScale = 2;\n");
  write_file(root / "k/guarded.cuh",
             "#ifndef GUARDED\n#define GUARDED\n#include \"common.cuh\"\nconstexpr int kAdd = "
             "3;\n#endif\n");
  write_file(root / "k/op.inc", "acc += FACTOR * x[i];\n");
  write_file(root / "k/only.cuh", "#define CONST 5.0f\n");
  write_file(
      root / "k/k.cu",
      "#if 0\n#include \"only.cuh\"\n#endif\n#if 1\n#include \"only.cuh\"\n#endif\n"
      "#include \"common.cuh\"\n/* \n#include \"none\"\n*/ #include \"common.cuh\"\n"
      "const char* const kText = R\"(\n#include \"none\"\n)\";\n"
      "extern \"C\" __global__ void k(const float* x, float* y, int n) {\n"
      "  int i = threadIdx.x; float acc = LIMIT(n);\n#define FACTOR 1.5f\n#include \"op.inc\"\n"
      "#undef FACTOR\n#define FACTOR kScale * kAdd\n  #include \"op.inc\" // again\n"
      "  y[i] = acc * CONST * SCALE + __LINE__ + SUM;\n}\n");
  const CompileRequest original = {
      load_source(root / "k/k.cu", root),
      {"k"},
      GetParam(),
      {"-DSCALE=7", "-DSUM=(1 + 1)", "-DLIMIT(a)=(a+1)", "-DFLAG", "-default-device"}};
  const std::string exported =
      "#define SCALE 7\n#define SUM (1 + 1)\n#define LIMIT(a) (a+1)\n"
      "#define FLAG 1\n" +
      original.source.expanded();
  const Compiled there =
      built({{"exported.cu", exported, {}}, {"k"}, GetParam(), {"-default-device"}});
  EXPECT_EQ(there.ptx_hash, built(original).ptx_hash) << exported;
}

INSTANTIATE_TEST_SUITE_P(Architectures, Nvrtc,
                         testing::Values("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"));

}  // namespace
}  // namespace evo
