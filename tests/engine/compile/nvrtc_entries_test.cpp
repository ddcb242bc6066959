// Tests by which names (entries) NVRTC finds the kernels of a source, and the errors for wrong
// names, options and architectures and for faulty headers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/compile/entry_symbol.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/cubin/cubin.hpp"
#include "engine/ptx/code_hash.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/compile/nvrtc_fixture.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_P(Nvrtc, AnErrorInAHeaderOfOthersBeginsWithTheLineThatLedThere) {
  const sample::TemporaryFolder folder;
  write_file(folder.path() / "lib.h",
             "template <class T> __device__ void f(float* a) {\n  T* p = a; p[0] = 1;\n}\n");
  const CompileRequest asked{
      {"k.cu", "#include <lib.h>\nextern \"C\" __global__ void k(float* a) { f<int>(a); }\n", {}},
      {"k"},
      GetParam(),
      {"-I", folder.path().string()}};
  const CompileOutcome outcome = outcome_of(compiler_->compile(asked));
  EXPECT_THAT(std::get<Rejection>(outcome).reason,
              AllOf(testing::StartsWith("k.cu(2): "), HasSubstr("lib.h(2): error")));
}

TEST_P(Nvrtc, AMissingEntryOrABadOptionIsARejection) {
  CompileRequest misnamed = nvrtc_request(GetParam(), 8, 16, 128);
  misnamed.entries = {"kernel"};
  const CompileAnswer outcome = compiler_->compile(misnamed);
  EXPECT_THAT(std::get<Rejection>(outcome).reason, HasSubstr("no entry point 'kernel'"));
  CompileRequest option = nvrtc_request(GetParam(), 8, 16, 128);
  option.options.emplace_back("--no-such-option");
  const CompileAnswer refused = compiler_->compile(option);
  EXPECT_EQ(std::get<Rejection>(refused).gate, Gate::kBuild);
  CompileRequest arch = nvrtc_request(GetParam(), 8, 16, 128);
  arch.arch = "sm_999";
  const CompileAnswer unknown = compiler_->compile(arch);
  EXPECT_THAT(std::get<Rejection>(unknown).reason,
              HasSubstr("arch: \"sm_999\": this compiler does not support it"));
}

constexpr const char* kTemplates = R"(
template <class T, int N> __global__ void scale(T* y) { y[threadIdx.x] *= N; }
template __global__ void scale<double, 5>(double*);
template __global__ void scale<double, 6>(double*);
__global__ void plain(float* y) { y[0] = 1; }
static __global__ void unseen(float* y) { y[0] = 3; }
namespace inner { __global__ void nested(float* y) { y[0] = 2; } }
extern "C" __global__ void unmangled(float* y) { y[0] = 4; }
)";

TEST_P(Nvrtc, AnEntryIsWhatCppCallsTheKernel) {
  const std::vector<std::pair<std::string, std::string>> symbols = {
      {"unmangled", "unmangled"},
      {"plain", "_Z5plainPf"},
      {"unseen", "_Z6unseenPf"},
      {"inner::nested", "_ZN5inner6nestedEPf"},
      {"scale<float, ITEMS>", "_Z5scaleIfLi4EEvPT_"},
      {"scale<double, ITEMS + 1>", "_Z5scaleIdLi5EEvPT_"}};
  for (const auto& [entry, symbol] : symbols) {
    const Compiled compiled = built({{"t.cu", kTemplates, {}}, {entry}, GetParam(), {"-DITEMS=4"}});
    EXPECT_EQ(entry_symbol(compiled.ptx, entry), symbol);
    EXPECT_TRUE(read_cubin(compiled.cubin, symbol).has_value()) << entry;
    EXPECT_EQ(compiled.ptx_hash, hash_ptx(compiled.ptx))
        << "the comment in the first line does not change the hash";
  }
}

TEST_P(Nvrtc, AnEntryThatIsNoKernelSaysWhatTheCompilerSays) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"scale<float>", "cannot determine which instance of function template \"scale\""},
      {"scale<float, UNKNOWN>", "identifier \"UNKNOWN\" is undefined"},
      {"scale", "several kernels: _Z5scaleIdLi"},
      {"Plain", "identifier \"Plain\" is undefined"}};
  for (const auto& [entry, why] : wrong) {
    const CompileAnswer answer =
        compiler_->compile({{"t.cu", kTemplates, {}}, {entry}, GetParam(), {}});
    EXPECT_THAT(std::get<Rejection>(answer).reason,
                AllOf(HasSubstr("t.cu: entry: "), HasSubstr(entry), HasSubstr(why)));
  }
}

TEST_P(Nvrtc, SeveralEntriesAreOneCompilation) {
  const std::vector<std::string> names = {"plain", "scale<float, ITEMS>", "unmangled"};
  const Compiled compiled = built({{"t.cu", kTemplates, {}}, names, GetParam(), {"-DITEMS=4"}});
  const auto entries = compiled_entries(compiled.ptx, names, compiled.resources);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].symbol, "_Z5plainPf");
  EXPECT_EQ(entries[1].symbol, "_Z5scaleIfLi4EEvPT_");
  EXPECT_EQ(entries[2].symbol, "unmangled");
  for (const CompiledEntry& entry : entries) {
    const auto facts = read_cubin(compiled.cubin, entry.symbol);
    ASSERT_TRUE(facts.has_value()) << entry.symbol;
    EXPECT_EQ(entry.resources.registers, facts->registers);
    EXPECT_LE(entry.resources.registers, compiled.resources.registers);
  }
  EXPECT_EQ(compiled.ptx_hash, hash_ptx(compiled.ptx))
      << "the comments in the first lines do not change the hash";
  for (const char* wrong : {"scale<float, UNKNOWN>", "absent", "scale"}) {
    const CompileAnswer answer = compiler_->compile(
        {{"t.cu", kTemplates, {}}, {"scale<float, 2>", "plain", wrong}, GetParam(), {}});
    EXPECT_THAT(std::get<Rejection>(answer).reason,
                AllOf(HasSubstr("t.cu: entry: "), HasSubstr(wrong)));
  }
}

TEST_P(Nvrtc, TheExportedSourceOfATemplateInstantiatesIt) {
  const std::string entry = "scale<float, ITEMS>";
  const std::string exported =
      std::string("#define ITEMS 4\n") + kTemplates + instantiation_of(entry);
  const Compiled there = built({{"x.cu", exported, {}}, {"_Z5scaleIfLi4EEvPT_"}, GetParam(), {}});
  EXPECT_EQ(there.ptx_hash,
            built({{"t.cu", kTemplates, {}}, {entry}, GetParam(), {"-DITEMS=4"}}).ptx_hash);
}

}  // namespace
}  // namespace evo
