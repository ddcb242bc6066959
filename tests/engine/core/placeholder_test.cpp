#include "engine/core/placeholder.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

TEST(Placeholder, EveryValueIsNamedByItsPath) {
  const Json json = Json::parse(R"({
    "arguments": [{"extent": 4}, {"extent": "TODO: number of elements of a", "name": "a"}],
    "grid": ["TODO: CTAs in x", "N"],
    "shapes": {"default": {"variables": {"N": "TODO"}}}})");
  try {
    require_finished(json, "problem.json");
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "problem.json: arguments[1].extent: TODO: number of elements of a\n"
                 "problem.json: grid[0]: TODO: CTAs in x\n"
                 "problem.json: shapes.default.variables.N: TODO");
  }
}

TEST(Placeholder, OnlyTheBeginningOfAValueCounts) {
  const Json json = Json::parse(R"({"TODO": "no TODO here", "list": [1, true, null, {}]})");
  EXPECT_TRUE(placeholders_in(json).empty());
  EXPECT_NO_THROW(require_finished(json, "problem.json"));
}

TEST(Placeholder, ATextAloneIsNamedToo) {
  EXPECT_EQ(placeholders_in(Json("TODO: all of it")).at(0).path, "top level");
}

}  // namespace
}  // namespace evo
