#include "engine/evaluate/driver_match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DeviceInfo with_driver(const std::string& driver) {
  DeviceInfo info;
  info.name = "NVIDIA L4";
  info.driver = driver;
  return info;
}

TEST(DriverMatch, CodeOfANewerMajorVersionIsRefusedBeforeAnythingIsCompiled) {
  for (const char* driver : {"CUDA driver 12.0", "CUDA driver 12.9"}) {
    try {
      require_driver_for("nvrtc 13.0", with_driver(driver));
      ADD_FAILURE() << driver;
    } catch (const MissingError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::kMissing);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr(driver), HasSubstr("NVIDIA L4"), HasSubstr("nvrtc 13.0"),
                        HasSubstr("EVO_NVRTC"), HasSubstr("nvidia-cuda-nvrtc-cu")));
    }
  }
}

std::string refusal(const std::string& compiler, const DeviceInfo& device) {
  try {
    require_driver_for(compiler, device);
    return {};
  } catch (const MissingError& error) {
    return error.what();
  }
}

TEST(DriverMatch, TheNextStepIsOneThatFitsDriverAndGpu) {
  EXPECT_THAT(refusal("nvrtc 13.0", with_driver("CUDA driver 11.8")),
              HasSubstr("next step: update the driver to 525"));
  DeviceInfo device = with_driver("CUDA driver 12.4");
  device.arch = "sm_89";
  EXPECT_THAT(refusal("nvrtc 13.0", device), HasSubstr("'nvidia-cuda-nvrtc-cu12==12.6.*'"));
  device.arch = "sm_100";
  EXPECT_THAT(refusal("nvrtc 13.0", device), HasSubstr("'nvidia-cuda-nvrtc-cu12==12.9.*'"));
  device.driver = "CUDA driver 13.1";
  EXPECT_THAT(refusal("nvrtc 14.0", device), HasSubstr("'nvidia-cuda-nvrtc==13.0.*'"));
}

TEST(DriverMatch, WithinAMajorVersionAndWithANewerDriverEverythingFits) {
  EXPECT_NO_THROW(require_driver_for("nvrtc 12.9", with_driver("CUDA driver 12.0")));
  EXPECT_NO_THROW(require_driver_for("nvrtc 12.4", with_driver("CUDA driver 13.0")));
  EXPECT_NO_THROW(require_driver_for("nvrtc 13.0", with_driver("CUDA driver 13.0")));
}

TEST(DriverMatch, WhatHasNoVersionIsNotJudged) {
  EXPECT_NO_THROW(require_driver_for("fake 1.0", with_driver("CUDA driver 12.4")));
  EXPECT_NO_THROW(require_driver_for("nvrtc 13.0", with_driver("virtual GPU 4")));
  EXPECT_NO_THROW(require_driver_for("nvrtc 13.0", with_driver("")));
}

}  // namespace
}  // namespace evo
