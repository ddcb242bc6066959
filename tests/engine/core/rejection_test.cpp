#include "engine/core/rejection.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

TEST(Rejection, FurtherDetailDoesNotRepeatTheReason) {
  const auto further = [](const char* reason, const char* detail) {
    return std::string(further_detail({Gate::kCorrectness, reason, detail}));
  };
  EXPECT_EQ(further("shape small: a race", "a race\n"), "");
  EXPECT_EQ(further("shape small: a race", "a race\n\nanother race\n"), "another race");
  EXPECT_EQ(further("shape small: a race (and 1 more)", "a race\nanother race\n"), "another race");
  EXPECT_EQ(further("it does not compile", "\nk.cu(3): error\n"), "k.cu(3): error");
  EXPECT_EQ(further("too slow", ""), "");
}

TEST(Rejection, GatesAreReadByTheirNames) {
  EXPECT_EQ(gate_from_string("resource"), Gate::kResource);
  EXPECT_THROW((void)gate_from_string("resources"), InputError);
}

}  // namespace
}  // namespace evo
