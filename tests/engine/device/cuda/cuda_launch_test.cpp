#include "engine/device/cuda/cuda_launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace evo {
namespace {

using testing::ElementsAre;

/// The calls of the fake driver's launch functions: "plain 2x128" for cuLaunchKernel with 2 CTAs of
/// 128 threads, "attributes 6=1 2x128" for cuLaunchKernelEx with attribute 6 set to 1.
std::vector<std::string>& calls() {
  static std::vector<std::string> made;
  return made;
}

CudaDriver recording_driver() {
  CudaDriver driver;
  driver.cuLaunchKernel = [](CUfunction, unsigned grid, unsigned, unsigned, unsigned block,
                             unsigned, unsigned, unsigned, CUstream, void**, void**) {
    calls().push_back("plain " + std::to_string(grid) + "x" + std::to_string(block));
    return CUDA_SUCCESS;
  };
  driver.cuLaunchKernelEx = [](const CUlaunchConfig* launch, CUfunction, void**, void**) {
    std::string call = "attributes";
    for (unsigned i = 0; i < launch->numAttrs; ++i) {
      const CUlaunchAttribute& its = launch->attrs[i];
      const int value = its.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE
                            ? its.value.cooperative
                            : its.value.programmaticStreamSerializationAllowed;
      call += " " + std::to_string(its.id) + "=" + std::to_string(value);
    }
    calls().push_back(call + " " + std::to_string(launch->gridDimX) + "x" +
                      std::to_string(launch->blockDimX));
    return CUDA_SUCCESS;
  };
  return driver;
}

TEST(QueueLaunch, GivesTheDriverTheAttributesOfTheKernel) {
  static_assert(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == 2);
  static_assert(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == 6);
  const CudaDriver driver = recording_driver();
  calls().clear();
  for (const LaunchAttributes attributes :
       {LaunchAttributes(), LaunchAttributes{.programmatic = true},
        LaunchAttributes{.cooperative = true}, LaunchAttributes{true, true}}) {
    CudaFunction kernel{.attributes = attributes};
    EXPECT_EQ(queue_launch(driver, kernel, nullptr, {{2, 1, 1}, {128, 1, 1}, 0}, {}), CUDA_SUCCESS);
  }
  EXPECT_THAT(calls(), ElementsAre("plain 2x128", "attributes 6=1 2x128", "attributes 2=1 2x128",
                                   "attributes 2=1 6=1 2x128"));
}

}  // namespace
}  // namespace evo
