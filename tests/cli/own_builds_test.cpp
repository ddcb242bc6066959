// Tests that evo-tune tunes a kernel for shapes that need different macros, and that the loader
// takes from the bundle the kernel of the right build for each shape. Uses the real programs, NVRTC
// and a virtual GPU; the loader uses a fake driver.

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/cli/own_kernel.hpp"
#include "tools/loader/evo_tune.hpp"

namespace evo {
namespace {

/// The kernel for EVEN=1 reads and writes pairs, so it is wrong for odd sizes.
class OwnBuilds : public OwnKernel {
 protected:
  OwnBuilds() {
    problem_["macros"] = {{"EVEN", "N % 2 == 0"}};
    problem_["shapes"]["odd"] = {{"variables", {{"N", 1001}}}};
    kernel(
        "template <class T, int ITEMS> __global__ void triple(const T* x, T* y, int n) {\n"
        "  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;\n"
        "#if EVEN\n"
        "  for (int i = begin; i < begin + ITEMS; ++i) {\n"
        "    if (2 * i >= n) return;\n"
        "    float2 pair = reinterpret_cast<const float2*>(x)[i];\n"
        "    reinterpret_cast<float2*>(y)[i] = make_float2(3 * pair.x, 3 * pair.y);\n"
        "  }\n"
        "#else\n"
        "  for (int i = begin; i < begin + ITEMS && i < n; ++i) y[i] = 3 * x[i];\n"
        "#endif\n}\n");
  }

  /// Launches a kernel of the bundle on a virtual GPU for N = `n`. Returns the outputs.
  [[nodiscard]] std::vector<float> outputs_of(const std::string& kernel, int n) const {
    const Json index = read_json_file(folder_.path() / "winners/bundle.json");
    const auto found = std::ranges::find_if(index["kernels"],
                                            [&](const Json& one) { return one["name"] == kernel; });
    const int block = (*found)["config"]["BLOCK"];
    const int ctas = (n + block - 1) / block;  // enough for each number of elements per thread
    std::ofstream(folder_.path() / "x.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(inputs_.data()), n * 4);
    const ProgramResult result =
        run("evo-ptx-run winners/" + kernel + ".ptx --entry " +
            (*found)["plan"]["steps"][0]["entry"].get<std::string>() + " --device " + device() +
            " --quiet --grid " + std::to_string(ctas) + " --block " + std::to_string(block) +
            " --arg in:x=x.bin --arg out:y=" + std::to_string(4 * n) +
            " --arg i32:" + std::to_string(n) + " --save saved" + std::to_string(n));
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    std::vector<float> y(static_cast<std::size_t>(n));
    std::ifstream(folder_.path() / ("saved" + std::to_string(n)) / "y.out", std::ios::binary)
        .read(reinterpret_cast<char*>(y.data()), 4 * n);
    return y;
  }

  std::vector<float> inputs_ = std::vector<float>(1001, 1.5F);
};

TEST_F(OwnBuilds, OneBundleServesTheShapesOfEach) {
  if (!is_virtual()) GTEST_SKIP() << "evo-ptx-run needs a virtual GPU";
  const ProgramResult tuned = run("evo-tune --jobs 1 --generations 2 --offspring 4 --device " +
                                  device() + " --space search_spaces/triple.json --shape all");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  ASSERT_EQ(run("evo-export --db evo.db --bundle winners --cpp").exit_code, 0);
  const evo_tune::Bundle bundle(folder_.path() / "winners", EVO_FAKE_DRIVER);
  const evo_tune::Device l4 = {"virtual NVIDIA L4", 89, 60, 99 << 10};
  const Json index = read_json_file(folder_.path() / "winners/bundle.json");
  for (const int n : {1000, 1001}) {
    const std::array<double, 1> shape = {static_cast<double>(n)};
    const evo_tune::Choice chosen = bundle.choose(shape, l4);
    EXPECT_THAT(chosen.why, testing::HasSubstr("tuned for this shape"));
    EXPECT_EQ(outputs_of(chosen.name, n), std::vector<float>(static_cast<std::size_t>(n), 4.5F));
  }
}

}  // namespace
}  // namespace evo
