#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"

namespace evo {

/// CUDA source with two kernels. A thread of kernel k uses LIVE floats at a time, in registers if
/// they fit, and a CTA uses SHARED floats of shared memory.
inline constexpr const char* kNvrtcSource = R"(
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

inline CompileRequest nvrtc_request(const std::string& arch, int live, int shared, int threads) {
  return {{"k.cu", kNvrtcSource, {}},
          {"k"},
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
    CompileOutcome outcome = outcome_of(compiler_->compile(request));
    const auto* rejection = std::get_if<Rejection>(&outcome);
    if (rejection != nullptr) throw std::runtime_error(rejection->reason + rejection->detail);
    return std::get<Compiled>(std::move(outcome));
  }

  std::unique_ptr<Compiler> compiler_;
};

}  // namespace evo
