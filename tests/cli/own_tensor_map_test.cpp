// Tests tensor maps as arguments of users' kernels. Uses the real programs, NVRTC and a virtual
// GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/own_kernel.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// A kernel y = 3 x that reads x only through a tensor map.
class OwnTensorMap : public OwnKernel {
 protected:
  OwnTensorMap() {
    space_["arch"] = "sm_90a";
    problem_["arguments"].push_back({{"name", "x_map"},
                                     {"direction", "tensor_map"},
                                     {"of", "x"},
                                     {"dims", {"N"}},
                                     {"box", {"BLOCK * PER_THREAD"}}});
    Json& own = problem_["templates"]["triple"];
    own["entry"] = "triple";
    own["arguments"] = {"x_map", "y", "n"};
    kernel(R"(#include <cuda.h>
__global__ void triple(const __grid_constant__ CUtensorMap x_map, float* y, int n) {
  constexpr int kTile = BLOCK * PER_THREAD;
  __shared__ alignas(128) float tile[kTile];
  __shared__ alignas(8) unsigned long long ready;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&ready));
  const int begin = blockIdx.x * kTile;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(barrier), "r"(kTile * 4) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2}], [%3];"
                 ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))), "l"(&x_map),
                   "r"(begin), "r"(barrier) : "memory");
  }
  __syncthreads();
  asm volatile("{.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
               "@!p bra again;\n}" ::"r"(barrier) : "memory");
  for (int i = threadIdx.x; i < kTile; i += BLOCK)
    if (begin + i < n) y[begin + i] = 3 * tile[i];
})");
  }

  /// Judges the kernel on a virtual H200. Returns "green", the reason why evo-judge rejected the
  /// kernel, or the error message of evo-judge if it judged nothing.
  std::string judged_on_h200(const std::string& more = {}) const {
    const ProgramResult judged =
        run("evo-judge --json --jobs 1 --device virtual:h200 --space search_spaces/triple.json " +
            more);
    if (judged.out.empty()) return judged.err;
    const Json found = Json::parse(judged.out);
    return found.contains("rejection") && !found["rejection"].is_null()
               ? found["rejection"]["reason"].get<std::string>()
               : "green";
  }
};

TEST_F(OwnTensorMap, IsAnArgument) {
  EXPECT_EQ(judged_on_h200(), "green");
  EXPECT_EQ(judged_on_h200("--set PER_THREAD=2"), "green");
}

TEST_F(OwnTensorMap, ThatCudaDoesNotTakeRejectsTheCandidate) {
  space_["parameters"][1]["values"] = {1, 8};
  EXPECT_THAT(judged_on_h200("--set PER_THREAD=8 --set BLOCK=64"),
              HasSubstr("tensor map 'x_map': box[0] is 512: allowed: 1 to 256"));
}

TEST_F(OwnTensorMap, MustHaveTheBoxOfTheKernel) {
  problem_["arguments"][3]["box"] = {"BLOCK * PER_THREAD - 4"};
  EXPECT_THAT(judged_on_h200(), HasSubstr("deadlock: the mbarrier at byte 0 of shared"));
}

TEST_F(OwnTensorMap, GoesIntoABundle) {
  const ProgramResult tuned =
      run("evo-tune --device virtual:h200 --jobs 1 --generations 1 --offspring 1 --quiet "
          "--space search_spaces/triple.json");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const ProgramResult exported = run("evo-export --db evo.db --bundle triple --cpp");
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const Json index = read_json_file(folder_.path() / "triple/bundle.json");
  EXPECT_EQ(index["buffers"], Json({"x", "y"}));
  const Json& plan = index["kernels"][0]["plan"];
  EXPECT_EQ(plan["arguments"][3]["direction"], "tensor_map");
  EXPECT_EQ(plan["steps"][0]["arguments"], Json({"x_map", "y", "n"}));
}

}  // namespace
}  // namespace evo
