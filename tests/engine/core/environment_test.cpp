#include "engine/core/environment.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(EnvironmentVariable, AnEmptyOneCountsAsNotSet) {
  constexpr const char* kName = "EVO_TEST_VARIABLE";
  unsetenv(kName);
  EXPECT_EQ(environment_variable(kName), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(environment_variable(kName), std::nullopt);
  setenv(kName, "a b", 1);
  EXPECT_EQ(environment_variable(kName), "a b");
  unsetenv(kName);
}

}  // namespace
}  // namespace evo
