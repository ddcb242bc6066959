#include "tools/tune/device_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(DeviceList, NamesOneOrSeveral) {
  EXPECT_THAT(device_ids("none"), IsEmpty());
  EXPECT_THAT(device_ids("auto"), ElementsAre("auto"));
  EXPECT_THAT(device_ids("cuda:0,cuda:2"), ElementsAre("cuda:0", "cuda:2"));
  EXPECT_THAT(device_ids("virtual:l4*3"), ElementsAre("virtual:l4", "virtual:l4", "virtual:l4"));
}

TEST(DeviceList, ALineSaysWhatIsAllowed) {
  for (const char* option :
       {"cuda:0,cuda:0", "cuda:0,", "virtual:l4*0", "virtual:l4*x", "cuda:0*2", "auto,cuda:1",
        "none,cuda:0", "cuda:all,cuda:1", "cuda:1,cuda:all", "virtual:l4*1000"}) {
    try {
      (void)device_ids(option);
      ADD_FAILURE() << option;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("--device ") + option));
      EXPECT_THAT(error.what(), HasSubstr("cuda:all, cuda:0,cuda:2 or virtual:l4*4"));
    }
  }
}

}  // namespace
}  // namespace evo
