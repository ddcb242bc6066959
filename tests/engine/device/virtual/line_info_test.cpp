#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Tests that reports name the file and line of the source, for code that NVRTC compiles with
// -lineinfo and a header in a subfolder.

namespace evo::test {
namespace {

constexpr const char* kHeader = R"(#pragma once
// Line 3 reads past the buffer if `i` is large.
__device__ inline float read_at(const float* x, int i) { return x[i]; }

__device__ inline float twice(const float* x, int i) {
  return 2 * read_at(x, i);
}
)";

constexpr const char* kSource = R"(#include "common/reads.cuh"

extern "C" __global__ void beyond(const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = twice(x, 1000 + i);
}

extern "C" __global__ void surface(cudaSurfaceObject_t s, int* out) {
  *out = surf2Dread<int>(s, 0, 0);
}
)";

class LineInfo : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
    std::string name = (std::filesystem::path(testing::TempDir()) / "line_info_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::filesystem::create_directories(folder_ / "common");
    std::ofstream(folder_ / "common/reads.cuh") << kHeader;
    ptx_ = compile_to_ptx(kSource, "compute_89", {"-I" + folder_.string()});
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::filesystem::path folder_;
  std::string ptx_;
};

TEST_F(LineInfo, AHazardInAnInlinedFunctionNamesEveryStep) {
  TestGpu gpu;
  const auto fault = gpu.run(ptx_, "beyond", {{1, 1, 1}, {1, 1, 1}, 0},
                             {gpu.input("x", std::vector<float>(8)), gpu.output<float>("y", 8)});
  ASSERT_TRUE(fault.has_value());
  const std::string header = (folder_ / "common/reads.cuh").string();
  const std::size_t at =
      fault->reason.find(header + ":3, inlined at " + header + ":6, inlined at ");
  ASSERT_NE(at, std::string::npos) << fault->reason;
  EXPECT_NE(fault->reason.find("kernel.cu:5;", at), std::string::npos) << fault->reason;
}

TEST_F(LineInfo, WhatIsNotSupportedNamesTheKernelsLine) {
  TestGpu gpu;
  const auto loaded = gpu.device().load({.ptx = ptx_, .cubin = {}, .entries = {"surface"}});
  const auto* fault = std::get_if<Fault>(&loaded);
  ASSERT_NE(fault, nullptr);
  EXPECT_TRUE(fault->reason.starts_with("not supported: suld.")) << fault->reason;
  EXPECT_NE(fault->reason.find("kernel.cu:9: suld."), std::string::npos) << fault->reason;
}

}  // namespace
}  // namespace evo::test
