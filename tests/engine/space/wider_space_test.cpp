#include "engine/space/wider_space.hpp"

#include <gtest/gtest.h>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

class WiderSpace : public testing::Test {
 protected:
  void write(const std::string& name, const Json& resources, const Json& changes = {}) const {
    Json space = {{"format", "evo-tune space 1"},
                  {"name", name},
                  {"problem", "p"},
                  {"template", "t"},
                  {"arch", "sm_89"},
                  {"shape", "mission"},
                  {"parameters", {{{"macro", "TILE"}, {"values", {1, 2}}, {"meaning", "m"}}}},
                  {"resources", resources}};
    space.update(changes.is_object() ? changes : Json::object());
    write_file(folder_.path() / (name + ".json"), space.dump());
  }

  [[nodiscard]] std::string wider_than(const std::string& name) const {
    const auto found = find_wider_space(read_space_file(folder_.path() / (name + ".json")));
    return found ? found->stem().string() : "none";
  }

  sample::TemporaryFolder folder_;
};

TEST_F(WiderSpace, IsTheMostGenerousOfTheSameProblemTemplateAndArchitecture) {
  write("narrow", {{"registers_per_thread", 120}, {"spill_bytes", 0}});
  write("same", {{"registers_per_thread", 120}, {"spill_bytes", 0}});
  EXPECT_EQ(wider_than("narrow"), "none");
  write("wide", {{"registers_per_thread", 168}, {"spill_bytes", 0}});
  EXPECT_EQ(wider_than("narrow"), "wide");
  write("widest", {{"registers_per_thread", 255}, {"spill_bytes", 0}});
  write("a bit", {{"registers_per_thread", 128}, {"spill_bytes", 0}});
  EXPECT_EQ(wider_than("narrow"), "widest");
  EXPECT_EQ(wider_than("widest"), "none");
}

TEST_F(WiderSpace, AllowsEverythingTheOtherAllows) {
  write("narrow", {{"registers_per_thread", 120}, {"spill_bytes", 8}});
  write("other", {{"registers_per_thread", 255}, {"spill_bytes", 0}});
  EXPECT_EQ(wider_than("narrow"), "none");
  write("free", Json::object());
  EXPECT_EQ(wider_than("narrow"), "free");
}

TEST_F(WiderSpace, OfAnotherKindIsNone) {
  write("narrow", {{"registers_per_thread", 120}});
  const Json generous = {{"registers_per_thread", 255}};
  write("problem", generous, {{"problem", "q"}});
  write("template", generous, {{"template", "u"}});
  write("arch", generous, {{"arch", "sm_90"}});
  write_file(folder_.path() / "default.json", R"({"format": "evo-tune defaults 1"})");
  write_file(folder_.path() / "broken.json", "{");
  EXPECT_EQ(wider_than("narrow"), "none");
}

}  // namespace
}  // namespace evo
