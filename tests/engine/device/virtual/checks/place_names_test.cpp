#include "engine/device/virtual/checks/place_names.hpp"

#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

TEST(PlaceNames, NamesThreadsByTheirPlaceInTheBlock) {
  LaunchContext launch;
  launch.block = {8, 4, 2};
  const PlaceNames names(launch);
  EXPECT_EQ(names.thread(0, 11), "thread (3,1,0) of warp 0");
  EXPECT_EQ(names.thread(1, 1), "thread (1,0,1) of warp 1");
  EXPECT_EQ(names.thread(1, kWarpSize), "several threads of warp 1");
}

TEST(PlaceNames, NamesSharedMemoryByTheVariableBefore) {
  Program program;
  LaunchContext launch;
  launch.program = &program;
  const PlaceNames names(launch);
  EXPECT_EQ(names.shared(20), "shared byte 20");
  program.shared_names = {{0, "first"}, {16, "_ZZ1kPfE6second"}};
  EXPECT_EQ(names.shared(15), "byte 15 of shared 'first' (shared byte 15)");
  EXPECT_EQ(names.shared(20), "byte 4 of shared 'k(float*)::second' (shared byte 20)");
}

}  // namespace
}  // namespace evo::ptx
