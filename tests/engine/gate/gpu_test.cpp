// Tests the gates on a device that behaves like a GPU: launches are queued, and check kernels
// compare outputs. The virtual GPU executes all kernels. Verdicts, messages and errors must equal
// those of checks on the host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/correctness/check_kernels.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/timing/timing.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/gate/made_gates.hpp"
#include "tests/fakes/queued_device.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

const char* const kProblem = R"json({
  "format": "evo-tune problem 1", "name": "gpu",
  "arguments": [
    {"name": "x", "direction": "in", "dtype": "f32", "extent": "N",
     "generator": {"distribution": "normal"}},
    {"name": "y", "direction": "out", "dtype": "f16", "extent": "N", "row": "R"},
    {"name": "sum", "direction": "inout", "dtype": "i64", "extent": "N",
     "generator": {"distribution": "integers", "low": -1000000000000, "high": 1000000000000}},
    {"name": "kept", "direction": "workspace", "dtype": "u32", "extent": 4},
    {"name": "n", "direction": "scalar", "dtype": "i32", "value": "N"}],
  "shapes": {"small": {"variables": {"N": 33, "R": 11}, "check": true},
             "timed": {"variables": {"N": 1000, "R": 1000}, "check": true}},
  "tolerance": {"max_abs_error": 0.01, "bad_abs_error": 0.001, "bad_share": 0.01,
                "relative_l2": 0.001, "max_row_error": 0.01},
  "flops": "2*N", "bytes": "8*N",
  "reference": {"source": "gpu.cu", "entry": "reference", "grid": ["ceil_div(N, 64)"],
                "block": [64]},
  "templates": {"gpu": {"source": "gpu.cu", "entry": "gpu", "grid": ["ceil_div(N, 64)"],
                         "block": [64]}}})json";

/// A kernel that computes y = 2 x + 1 and updates `sum`. The statements in `spoil` follow the
/// computation and may violation the results, possibly depending on X0, the bits of x[0], which
/// differ between seeds. The kernel does not compute the elements from index END on.
std::string kernel_text(const std::string& name, const std::string& spoil) {
  return R"(
#include <cuda_fp16.h>
extern "C" __global__ void )" +
         name + R"((const float* x, __half* y, long long* sum, unsigned* kept, int n) {
  const int i = static_cast<int>(blockIdx.x * 64 + threadIdx.x);
  const unsigned X0 = __float_as_uint(x[0]);
#ifndef END
#define END n
#endif
  if (i < END) {
    y[i] = __float2half(2.0f * x[i] + 1.0f);
    sum[i] += 3;
  }
)" + spoil +
         "\n}\n";
}

/// A correctness gate that compares outputs on its own device (`by_kernels`) or on the host.
struct Way {
  explicit Way(const Problem& problem, bool by_kernels) {
    device =
        std::make_unique<fake::QueuedDevice>(open_virtual_device("virtual:l4", {.threads = 2}));
    static const std::string kernels = test::compile_to_ptx(check_kernels_source(), "compute_75");
    work = by_kernels ? make_device_work(*device, {kernels, "", {kCheckKernelsEntry}})
                      : make_host_work(*device);
    const KernelId reference = load("reference", "");
    constexpr std::uint64_t kSeed = 11;
    made = std::make_unique<MadeGates>(*work, problem, reference, kSeed);
    // The gate's clock stands still, because the duration of launches must not influence these
    // tests.
    gate = std::make_unique<CorrectnessGate>(*work, problem, made->cases, made->judge,
                                             CorrectnessOptions{.now_ms = [] { return 0.0; }});
  }

  KernelId load(const std::string& name, const std::string& spoil, const std::string& end = {}) {
    std::vector<std::string> options = {"-I" EVO_CUDA_INCLUDE_DIR};
    if (!end.empty()) options.push_back("-DEND=" + end);
    const std::string ptx = test::compile_to_ptx(kernel_text(name, spoil), "compute_75", options);
    const auto loaded = device->load({ptx, "", {name}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) throw std::runtime_error(fault->reason);
    return std::get<KernelId>(loaded);
  }

  std::unique_ptr<fake::QueuedDevice> device;
  std::unique_ptr<BufferWork> work;
  std::unique_ptr<MadeGates> made;
  std::unique_ptr<CorrectnessGate> gate;
};

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
    write_file(folder_.path() / "gpu.cu", "");
    problem_.emplace(Problem::parse(kProblem, folder_.path()));
    host_ = std::make_unique<Way>(*problem_, false);
    gpu_ = std::make_unique<Way>(*problem_, true);
  }

  [[nodiscard]] CorrectnessResult check(Way& way, const std::string& spoil,
                                        const std::string& end = {}) {
    const LoadedKernel kernel{way.load("gpu", spoil, end), &problem_->templates.front(), {}};
    return way.gate->check(kernel, {&problem_->shape("small"), &problem_->shape("timed")},
                           CheckKind::kFull, {}, [](const std::string&) {});
  }

  [[nodiscard]] TimingResult time(Way& way, const std::string& spoil) {
    const LoadedKernel kernel{way.load("gpu", spoil), &problem_->templates.front(), {}};
    constexpr std::size_t kFresh = 5;
    GpuWatch gpu(nullptr);
    TimingGate gate(*way.work, *problem_, way.made->cases, way.made->judge, gpu, kFresh,
                    {.stopping = {.least_samples = 4, .most_samples = 4}, .warmups = 1});
    return gate.time(kernel, problem_->shape("timed"), [](const std::string&) {});
  }

  /// The bits of x[0] in one case, as a C++ literal.
  [[nodiscard]] std::string x0(const std::string& shape, std::size_t index) {
    const CheckCase& data = host_->made->cases.get(problem_->shape(shape), index);
    const std::vector<std::byte> x = host_->work->kept().content(*data.inputs[0]);
    std::uint32_t bits = 0;
    std::memcpy(&bits, x.data(), sizeof bits);
    return std::to_string(bits) + "u";
  }

  /// Checks a kernel on the host and on the device, and expects the same verdict. Returns the
  /// message of the rejection, or "passed".
  std::string verdict(const std::string& spoil, const std::string& end = {}) {
    const CorrectnessResult by_host = check(*host_, spoil, end);
    const CorrectnessResult by_gpu = check(*gpu_, spoil, end);
    EXPECT_EQ(by_gpu.device_lost, by_host.device_lost);
    EXPECT_EQ(by_gpu.checks.size(), by_host.checks.size());
    for (std::size_t i = 0; i < std::min(by_gpu.checks.size(), by_host.checks.size()); ++i) {
      const CheckResult& found = by_gpu.checks[i];
      const CheckResult& expected = by_host.checks[i];
      EXPECT_EQ(found.shape, expected.shape);
      EXPECT_EQ(found.seed, expected.seed);
      EXPECT_EQ(found.max_abs_error, expected.max_abs_error);
      EXPECT_EQ(found.bad_share, expected.bad_share);
      EXPECT_NEAR(found.relative_l2, expected.relative_l2, 1e-12 * expected.relative_l2);
      EXPECT_NEAR(found.max_row_error, expected.max_row_error, 1e-12 * expected.max_row_error);
    }
    const auto words = [](const CorrectnessResult& result) {
      return result.rejection ? result.rejection->reason + "\n" + result.rejection->detail
                              : std::string("passed");
    };
    EXPECT_EQ(words(by_gpu), words(by_host));
    return words(by_gpu);
  }

  sample::TemporaryFolder folder_;
  std::optional<Problem> problem_;
  std::unique_ptr<Way> host_;
  std::unique_ptr<Way> gpu_;
};

TEST_F(Gpu, AnHonestKernelPasses) {
  EXPECT_EQ(verdict(""), "passed");
  // A kernel may write to its workspace.
  EXPECT_EQ(verdict("if (i == 0) kept[1] = X0;"), "passed");
}

TEST_F(Gpu, AnErrorIsReportedWithItsElement) {
  EXPECT_THAT(verdict("if (i == 7) y[i] = __float2half(77.0f);"), HasSubstr("max abs error 7"));
  EXPECT_THAT(verdict("if (i == n - 1) sum[i] += 1;"), HasSubstr("worst: sum[32] = "));
  EXPECT_THAT(verdict("if (i == 9) y[i] = __float2half(__uint_as_float(0x7fc00000));"),
              HasSubstr("1 non-finite element(s); worst: y[9] = nan"));
  EXPECT_THAT(verdict("if (i == 20) y[i] = __float2half(__half2float(y[i]) + 0.009f);"),
              HasSubstr("share of bad elements"));
}

TEST_F(Gpu, TheFirstLaunchThatIsWrongIsBlamed) {
  // The kernel is wrong on the fifth seed and, in two of the three cases, on an earlier seed. All
  // seeds are judged together, and the first wrong seed must be named.
  for (const std::size_t seed : {1, 2, 4}) {
    const std::string wrong =
        verdict("if (i == 3 && (X0 == " + x0("small", seed) + " || X0 == " + x0("small", 4) +
                ")) y[i] = __float2half(5.0e4f);");
    const CheckCase& data = host_->made->cases.get(problem_->shape("small"), seed);
    EXPECT_THAT(wrong, HasSubstr("shape small, seed " + std::to_string(data.seed) + ": "));
  }
}

TEST_F(Gpu, AFaultBehindOthersIsBlamedOnItsOwnSeed) {
  const std::size_t seed = 3;
  const std::string fault =
      verdict("if (i == 3 && X0 == " + x0("timed", seed) + ") asm volatile(\"trap;\");");
  const CheckCase& data = host_->made->cases.get(problem_->shape("timed"), seed);
  EXPECT_THAT(fault, HasSubstr("shape timed, seed " + std::to_string(data.seed) + ": trap"));
}

TEST_F(Gpu, AWrongResultBeforeAFaultIsTheVerdictAndTheDeviceIsLost) {
  const std::string spoil = "if (i == 3 && X0 == " + x0("small", 1) +
                            ") y[i] = __float2half(9.0f);\n if (i == 3 && X0 == " + x0("small", 3) +
                            ") y[1LL << 40] = y[0];";
  const CorrectnessResult result = check(*gpu_, spoil);
  ASSERT_TRUE(result.rejection);
  EXPECT_THAT(result.rejection->reason, HasSubstr("worst: y[3] = 9"));
  EXPECT_TRUE(result.device_lost);
}

TEST_F(Gpu, ElementsThatAreNotWrittenAreFound) {
  EXPECT_THAT(verdict("", "n - 1"), HasSubstr("non-finite element(s); worst: y[32] = nan"));
  EXPECT_THAT(verdict("", "(n == 33 ? n : n - 7)"), HasSubstr("shape timed"));
}

TEST_F(Gpu, AnInputThatIsChangedIsNamedAndPutBack) {
  const std::string changes = "if (i == 0) const_cast<float*>(x)[n - 1] = 5.0f;";
  EXPECT_THAT(verdict(changes), HasSubstr("changed its input 'x', first at byte 1"));
  EXPECT_EQ(verdict(""), "passed");
  // The kernel changes its input only on the third seed of the shape "timed".
  EXPECT_THAT(
      verdict("if (i == 0 && X0 == " + x0("timed", 2) + ") const_cast<float*>(x)[9] = 5.0f;"),
      HasSubstr("changed its input 'x', first at byte 3"));
  EXPECT_EQ(verdict(""), "passed");
}

TEST_F(Gpu, AResultThatIsAnotherTheSecondTimeIsFoundWhereItIs) {
  EXPECT_THAT(verdict("if (i == 6 && atomicAdd(kept, 1) % 2 == 1) sum[i] -= 1;"),
              HasSubstr("a second run on the same input gave another result (a race, or an element "
                        "that is never written), first at sum[6]"));
}

TEST_F(Gpu, AKernelThatStartsEarlyMustWaitForItsInputs) {
  gpu_->device->start_early(true);
  EXPECT_FALSE(check(*gpu_, "").rejection);
  gpu_->device->start_early(false);
  const CorrectnessResult result = check(*gpu_, "");
  ASSERT_TRUE(result.rejection);
  EXPECT_THAT(result.rejection->reason, HasSubstr("worst: y["));
  EXPECT_THAT(result.rejection->reason, HasSubstr("uses 'x' before griddepcontrol.wait"));
  EXPECT_FALSE(result.device_lost);
}

TEST_F(Gpu, ATimedKernelIsVerified) {
  EXPECT_FALSE(time(*gpu_, "").rejection);
  const TimingResult wrong =
      time(*gpu_, "if (i == 0 && X0 == " + x0("timed", 5) + ") y[i] = __float2half(9.0f);");
  ASSERT_TRUE(wrong.rejection);
  EXPECT_THAT(wrong.rejection->reason, HasSubstr("timed launches, shape timed"));
  EXPECT_THAT(wrong.rejection->reason, HasSubstr("worst: y[0] = 9"));
}

TEST_F(Gpu, AShapeIsWaitedForAFewTimesAndNothingLargeIsDownloaded) {
  (void)check(*gpu_, "");
  const std::size_t waits = gpu_->device->waits();
  const std::size_t bytes = gpu_->device->downloaded_bytes();
  (void)check(*gpu_, "");
  // For each of the two shapes, the host waits for two single launches and their checks, and for
  // all other launches together.
  EXPECT_LE(gpu_->device->waits() - waits, 2U * 10U);
  // Only results of comparisons are downloaded. Each result takes 256 bytes, and some results are
  // downloaded several times.
  EXPECT_LE(gpu_->device->downloaded_bytes() - bytes, 2U * 80'000U);
}

TEST_F(Gpu, WhatIsKeptAndOverwrittenIsNoVerdict) {
  const CheckCase& data = gpu_->made->cases.get(problem_->shape("small"), 0);
  const std::vector<std::byte> right = gpu_->work->kept().content(*data.expected[1]);
  std::vector<std::byte> overwritten = right;
  overwritten[4] ^= std::byte{0x10};
  gpu_->work->kept().keep(*data.expected[1], overwritten);
  EXPECT_THROW((void)check(*gpu_, ""), CudaError);
  // The check throws even if the kernel's output equals the overwritten copy of the expected
  // output.
  EXPECT_THROW((void)check(*gpu_, "if (i == 2) *((unsigned char*)y + 4) ^= 0x10;"), CudaError);
  gpu_->work->kept().keep(*data.expected[1], right);
  EXPECT_FALSE(check(*gpu_, "").rejection);
}

}  // namespace
}  // namespace evo
