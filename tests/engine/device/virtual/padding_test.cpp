// Structures with padding, which copies may leave uninitialised.

#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr int kArgmaxThreads = 64;
constexpr unsigned kArgmaxCtas = 4;

// argmax: each CTA copies its best element, with 4 bytes of padding, to global memory, and one CTA
// then reduces these elements. Without SET_INDEX, thread 3 does not set the index of its element.
constexpr const char* kArgmax = R"(
struct Best {
  double value;
  int index;
};

__device__ Best kept[4];

__device__ void reduce(Best* best) {
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    const int t = threadIdx.x;
    if (t < half && best[t + half].value > best[t].value) best[t] = best[t + half];
  }
  __syncthreads();
}

__device__ void of_cta(const double* in, Best* to) {
  __shared__ Best best[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  best[threadIdx.x].value = in[i];
  if (SET_INDEX || threadIdx.x != 3) best[threadIdx.x].index = i;
  reduce(best);
  if (threadIdx.x == 0) to[blockIdx.x] = best[0];
}

__device__ void of_all(const Best* from, int* out) {
  __shared__ Best best[64];
  best[threadIdx.x] = from[threadIdx.x % 4];
  reduce(best);
  if (threadIdx.x == 0) out[0] = best[0].index;
}

extern "C" __global__ void to_workspace(const double* in, Best* partial) { of_cta(in, partial); }
extern "C" __global__ void from_workspace(const Best* partial, int* out) { of_all(partial, out); }
extern "C" __global__ void to_variable(const double* in) { of_cta(in, kept); }
extern "C" __global__ void to_output(const double* in, Best* out) { of_cta(in, out); }
)";

const std::string& padded_ptx(bool sets_index) {
  static const std::string all = compile_to_ptx(kArgmax, "compute_89", {"-DSET_INDEX=true"});
  static const std::string without = compile_to_ptx(kArgmax, "compute_89", {"-DSET_INDEX=false"});
  return sets_index ? all : without;
}

class Padding : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
    std::vector<double> values(std::size_t{kArgmaxThreads} * kArgmaxCtas, 1.0);
    values[131] = 7.0;  // of thread 3 of CTA 2
    in_ = gpu_.input("in", values);
    workspace_ = gpu_.device().memory().allocate(
        {.name = "partial", .bytes = kArgmaxCtas * 16, .writable = true, .is_kept = true});
    gpu_.device().memory().fill(workspace_, std::byte{0});
    out_ = gpu_.inout("out", std::vector<int>(kArgmaxCtas * 4, -1));
  }
  std::optional<Fault> run(const std::string& entry, unsigned ctas,
                           const std::vector<KernelArgument>& arguments, bool sets_index = true) {
    return gpu_.run(padded_ptx(sets_index), entry,
                    {.grid = {ctas, 1, 1}, .block = {kArgmaxThreads, 1, 1}}, arguments);
  }
  TestGpu gpu_;
  BufferId in_ = 0;
  BufferId workspace_ = 0;
  BufferId out_ = 0;
};

TEST_F(Padding, MayBeCopiedToAWorkspace) {
  ASSERT_EQ(text_of(run("to_workspace", kArgmaxCtas, {in_, workspace_})), "");
  ASSERT_EQ(text_of(run("from_workspace", 1, {workspace_, out_})), "");
  EXPECT_EQ(gpu_.read<int>(out_, 1).front(), 131);
}

TEST_F(Padding, MayBeCopiedToAVariableOfTheModule) {
  EXPECT_EQ(text_of(run("to_variable", kArgmaxCtas, {in_})), "");
}

TEST_F(Padding, IsReportedInAnOutput) {
  const auto fault = run("to_output", kArgmaxCtas, {in_, out_});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("uninitialised data")) << fault->reason;
  EXPECT_NE(fault->reason.find("reach global memory"), std::string::npos) << fault->reason;
}

TEST_F(Padding, UninitialisedDataThatPassThroughAWorkspaceAreReported) {
  ASSERT_EQ(text_of(run("to_workspace", kArgmaxCtas, {in_, workspace_}, false)), "");
  const auto fault = run("from_workspace", 1, {workspace_, out_});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("uninitialised data")) << fault->reason;
  EXPECT_NE(fault->detail.find("of the 64 of 'partial'"), std::string::npos) << text_of(fault);
  // Defined values replace them.
  ASSERT_EQ(text_of(run("to_workspace", kArgmaxCtas, {in_, workspace_})), "");
  EXPECT_EQ(text_of(run("from_workspace", 1, {workspace_, out_})), "");
}

}  // namespace
}  // namespace evo::test
