#include "engine/core/hash.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(ContentHash, SeparatesFields) {
  EXPECT_NE(ContentHash().add("ab").add("c").hex(), ContentHash().add("a").add("bc").hex());
  EXPECT_NE(ContentHash().add("").hex(), ContentHash().hex());
}

TEST(ContentHash, IsStable) {
  EXPECT_EQ(content_key("evo-tune"), content_key("evo-tune"));
  EXPECT_EQ(content_key("evo-tune").size(), 32U);
}

}  // namespace
}  // namespace evo
