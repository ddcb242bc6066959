// The real compiler: what it reports against the cubin and against the program ptxas.

#include "engine/compile/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/compile/ptxas_log.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/random.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Uses registers by LIVE values kept, shared memory by SHARED, and a second entry.
constexpr const char* kSource = R"(
extern "C" __global__ void other(float* y) { y[0] = 1; }
extern "C" __global__ void __launch_bounds__(THREADS) k(const float* x, float* y, int n) {
  __shared__ float kept[SHARED];
  float live[LIVE];
  for (int i = 0; i < LIVE; ++i) live[i] = x[threadIdx.x + i * n];
  kept[threadIdx.x % SHARED] = live[0];
  __syncthreads();
  for (int round = 0; round < n; ++round) {
#pragma unroll
    for (int i = 0; i < LIVE; ++i) live[i] = live[i] * live[(i + 7) % LIVE] + kept[round % SHARED];
  }
  for (int i = 0; i < LIVE; ++i) y[threadIdx.x + i * n] = live[i];
}
)";

CompileRequest request(const std::string& arch, int live, int shared, int threads) {
  return {{"k.cu", kSource, {}},
          "k",
          arch,
          {"-DLIVE=" + std::to_string(live), "-DSHARED=" + std::to_string(shared),
           "-DTHREADS=" + std::to_string(threads)}};
}

class Nvrtc : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      compiler_ = open_nvrtc();
    } catch (const MissingError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Compiled built(const CompileRequest& request) {
    CompileOutcome outcome = compiler_->compile(request);
    const auto* rejection = std::get_if<Rejection>(&outcome);
    if (rejection != nullptr) throw std::runtime_error(rejection->reason + rejection->detail);
    return std::get<Compiled>(std::move(outcome));
  }

  std::unique_ptr<Compiler> compiler_;
};

TEST_P(Nvrtc, ReportsResourcesThatAgreeWithTheCubin) {
  int before = 0;
  for (const int live : {2, 24, 64}) {
    const Compiled compiled = built(request(GetParam(), live, 256, 128));
    EXPECT_GT(compiled.resources.registers, before);
    EXPECT_EQ(cubin_registers(compiled.cubin, "k"), compiled.resources.registers);
    EXPECT_EQ(compiled.resources.static_shared_bytes, 1024);
    EXPECT_EQ(compiled.resources.spill_store_bytes, 0);
    EXPECT_THAT(compiled.ptx, HasSubstr(".target " + GetParam()));
    EXPECT_GT(compiled.compile_ms, 0);
    before = compiled.resources.registers;
  }
}

TEST_P(Nvrtc, SpillsAreSeen) {
  // 1024 threads leave 64 registers each, for 120 live values.
  const Compiled compiled = built(request(GetParam(), 120, 1, 1024));
  EXPECT_LE(compiled.resources.registers, 64);
  EXPECT_GT(compiled.resources.spill_store_bytes + compiled.resources.spill_load_bytes, 0);
}

TEST_P(Nvrtc, AgreesWithTheProgramPtxas) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas on PATH";
  const sample::TemporaryFolder folder;
  const std::string base = folder.path() / "k";
  for (const auto& [live, threads] :
       {std::pair(2, 128), std::pair(64, 128), std::pair(120, 1024)}) {
    const Compiled compiled = built(request(GetParam(), live, 64, threads));
    write_file(base + ".ptx", compiled.ptx);
    const std::string command = "ptxas -v -arch=" + GetParam() + " " + base + ".ptx -o " + base +
                                ".cubin > " + base + ".log 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_text_file(base + ".log");
    const auto reported = parse_ptxas_log(read_text_file(base + ".log"), "k");
    ASSERT_TRUE(reported.has_value()) << read_text_file(base + ".log");
    EXPECT_EQ(*reported, compiled.resources) << compiled.log;
    EXPECT_EQ(cubin_registers(read_text_file(base + ".cubin"), "k"), reported->registers);
  }
}

TEST_P(Nvrtc, ADamagedCubinNeverCrashesTheReader) {
  const Compiled compiled = built(request(GetParam(), 8, 16, 128));
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = compiled.cubin;
    for (int i = 0; i < 20; ++i)
      damaged[random.below(damaged.size())] ^= static_cast<char>(random.below(256));
    if (round % 3 == 0) damaged.resize(random.below(damaged.size()));
    (void)cubin_registers(damaged, "k");
  }
  EXPECT_FALSE(cubin_registers(compiled.cubin, "none"));
}

TEST_P(Nvrtc, EqualCodeIsOneKernelAndOtherCodeIsNot) {
  CompileRequest plain = request(GetParam(), 8, 16, 128);
  CompileRequest more = plain;
  more.options.emplace_back("-DUNUSED=7");
  EXPECT_EQ(built(plain).ptx_hash, built(more).ptx_hash);
  EXPECT_NE(plain.key(compiler_->version()), more.key(compiler_->version()));
  EXPECT_NE(built(plain).ptx_hash, built(request(GetParam(), 9, 16, 128)).ptx_hash);
}

TEST_P(Nvrtc, OptionsReachTheCompiler) {
  CompileRequest limited = request(GetParam(), 64, 16, 128);
  const int free = built(limited).resources.registers;
  limited.options.emplace_back("--maxrregcount=32");
  limited.source.text.replace(limited.source.text.find(" __launch_bounds__(THREADS)"), 27, "");
  EXPECT_GT(free, 32);
  EXPECT_LE(built(limited).resources.registers, 32);
}

TEST_P(Nvrtc, AKernelThatDoesNotCompileIsARejectionWithItsFirstError) {
  CompileRequest bad = request(GetParam(), 8, 16, 128);
  bad.source.text += "\nint broken( { return undefined_name; }\n";
  const CompileOutcome outcome = compiler_->compile(bad);
  const auto& rejection = std::get<Rejection>(outcome);
  EXPECT_EQ(rejection.gate, Gate::kBuild);
  EXPECT_THAT(rejection.reason, AllOf(HasSubstr("k.cu("), HasSubstr("error")));
  EXPECT_THAT(rejection.detail, HasSubstr(rejection.reason));
}

TEST_P(Nvrtc, AMissingEntryOrABadOptionIsARejection) {
  CompileRequest misnamed = request(GetParam(), 8, 16, 128);
  misnamed.entry = "kernel";
  const CompileOutcome outcome = compiler_->compile(misnamed);
  EXPECT_THAT(std::get<Rejection>(outcome).reason, HasSubstr("no entry point 'kernel'"));
  CompileRequest option = request(GetParam(), 8, 16, 128);
  option.options.emplace_back("--no-such-option");
  const CompileOutcome refused = compiler_->compile(option);
  EXPECT_EQ(std::get<Rejection>(refused).gate, Gate::kBuild);
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
    CompileRequest planted = {load_source(root / "planted/planted.cu", root), "planted", GetParam(),
                              names};
    for (const char* option : {"-DTHREADS=64", "-DITEMS=2"}) planted.options.emplace_back(option);
    planted.options.push_back("-DBUG=" + std::to_string(bug));
    const bool compiles = std::holds_alternative<Compiled>(compiler_->compile(planted));
    EXPECT_EQ(compiles,
              names[static_cast<std::size_t>(bug)].find("DOES_NOT_COMPILE") == std::string::npos)
        << names[static_cast<std::size_t>(bug)];
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Nvrtc, testing::Values("sm_89", "sm_90"));

TEST(NvrtcLibrary, ThatIsNotThereIsMissing) {
  setenv("EVO_NVRTC", "/nonexistent/libnvrtc.so", 1);
  EXPECT_THROW((void)open_nvrtc(), MissingError);
  unsetenv("EVO_NVRTC");
}

}  // namespace
}  // namespace evo
