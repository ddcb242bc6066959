// Tests constraints that use names of the problem and of the device, and spaces that extend other
// spaces.

#include "engine/space/external_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Json space_json() {
  return Json::parse(R"json({
    "format": "evo-tune space 1", "name": "n", "problem": "p", "template": "t", "arch": "sm_89",
    "shape": "mission",
    "let": {"TILE_BYTES": "4 * TILE * STAGES", "LIMIT": 1024},
    "parameters": [{"macro": "TILE", "values": [32, 64, 128]},
                   {"macro": "STAGES", "values": [1, 2, 3]}],
    "constraints": [{"name": "fits", "expression": "TILE_BYTES <= LIMIT"},
                    {"expression": "S % TILE == 0", "why": "no rest"}],
    "resources": {"registers_per_thread": 120, "spill_bytes": 0},
    "milestones": [{"name": "a", "set": {"TILE": 64}}]})json");
}

SpaceDefinition parsed(const Json& json) { return parse_space(json.dump(), "s.json"); }

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Surroundings, NamesBecomeNumbersAndFormulas) {
  const SpaceDefinition space = placed(parsed(space_json()), {{"S", "192"}, {"TILE", "7"}});
  EXPECT_EQ(space.constraints[0].expression, "(4 * TILE * STAGES) <= 1024");
  EXPECT_EQ(space.constraints[0].shown(), "TILE_BYTES <= LIMIT");
  EXPECT_EQ(space.constraints[1].expression, "192 % TILE == 0")
      << "TILE is a macro of the space, so the problem's TILE does not replace it";
  EXPECT_EQ(Space(space).count().value, 6);
}

TEST(Surroundings, TheTextThatIsKeptNeedsNone) {
  const SpaceDefinition space = placed(parsed(space_json()), {{"S", "192"}});
  const SpaceDefinition alone = parse_space(space.text, "the database");
  EXPECT_EQ(Space(alone).content_key(), Space(space).content_key());
  const SpaceDefinition other = placed(parsed(space_json()), {{"S", "64"}});
  EXPECT_NE(Space(other).content_key(), Space(space).content_key());
}

TEST(Surroundings, ASpaceWithoutNamesStaysAsItIsWritten) {
  Json json = space_json();
  json.erase("let");
  json["constraints"] = Json::array();
  const SpaceDefinition space = placed(parsed(json), {{"S", "192"}});
  EXPECT_EQ(space.text, json.dump());
}

/// A space with a milestone TILE 128, which is valid if S is a multiple of 128, and otherwise
/// violates the constraint "no rest". `where` is the milestone's condition.
Json with_where(const std::string& where) {
  Json json = space_json();
  json["milestones"].push_back({{"name", "b"}, {"set", {{"TILE", 128}}}, {"where", where}});
  json["milestones"][0]["set"]["TILE"] = 32;
  return json;
}

TEST(Surroundings, AMilestoneMayBelongToSomeShapesOnly) {
  const Json json = with_where("S % 128 == 0");
  EXPECT_EQ(Space(placed(parsed(json), {{"S", "128"}})).definition().milestones.size(), 2U);
  const SpaceDefinition other = placed(parsed(json), {{"S", "96"}});
  EXPECT_EQ(Space(other).definition().milestones.size(), 1U);
  EXPECT_EQ(Space(parse_space(other.text, "the database")).definition().milestones.size(), 1U);
  EXPECT_THAT(refusal([] {
                Space(placed(parsed(with_where("TILE > S")), {{"S", "96"}}));
              }),
              HasSubstr("no rest"));
}

TEST(Surroundings, FaultsOfAMilestonesConditionNameIt) {
  EXPECT_THAT(refusal([] {
                Space(placed(parsed(with_where("1 +")), {{"S", "128"}}));
              }),
              HasSubstr("where: '1 +'"));
  EXPECT_THAT(refusal([] {
                Space(placed(parsed(with_where("T > 1")), {{"S", "128"}}));
              }),
              AllOf(HasSubstr("milestone 'b': where"), HasSubstr("'T' is unknown")));
}

TEST(Surroundings, FaultsNameFileAndKey) {
  EXPECT_THAT(refusal([] { Space(parsed(space_json())); }),
              AllOf(HasSubstr("s.json: constraints[1].expression"), HasSubstr("'S' is unknown")));
  Json json = space_json();
  json["let"] = {{"A", "B + 1"}, {"B", "A * 2"}};
  EXPECT_THAT(refusal([&] { (void)parsed(json); }),
              AllOf(HasSubstr("s.json: let.A"), HasSubstr("'B' is defined by itself: B → A → B")));
  json["let"] = {{"TILE", 1}};
  EXPECT_THAT(refusal([&] { (void)parsed(json); }), HasSubstr("let.TILE"));
  json["let"] = {{"min", 1}};
  EXPECT_THAT(refusal([&] { (void)parsed(json); }), HasSubstr("has a fixed meaning in"));
  json["let"] = {{"A", "1 +"}};
  EXPECT_THAT(refusal([&] { (void)parsed(json); }), HasSubstr("let.A"));
  json["let"] = Json::object();
  std::string before = "1";
  for (int i = 0; i < 40; ++i) {
    const std::string name = "N" + std::to_string(i);
    json["let"][name] = before + " + " + before;
    before = name;
  }
  EXPECT_THAT(refusal([&] { (void)parsed(json); }), HasSubstr("longer than 10000 characters"));
}

class Overlay : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const Json& json) const {
    write_file(folder_.path() / name, json.dump());
    return folder_.path() / name;
  }

  sample::TemporaryFolder folder_;
};

TEST_F(Overlay, SaysWhatIsDifferent) {
  write("base.json", space_json());
  const auto file =
      write("wide.json",
            {{"format", "evo-tune space 1"},
             {"extends", "base.json"},
             {"name", "wide"},
             {"let", {{"LIMIT", 2048}}},
             {"resources", {{"registers_per_thread", 255}}},
             {"parameters",
              {{{"macro", "STAGES"}, {"values", {1, 2}}}, {{"macro", "NEW"}, {"values", {0}}}}},
             {"milestones", {{{"name", "b"}, {"set", {{"NEW", 0}}}}}}});
  const SpaceDefinition space = placed(read_space_file(file), {{"S", "192"}});
  EXPECT_EQ(space.name, "wide");
  EXPECT_EQ(space.arch, "sm_89");
  EXPECT_EQ(space.resources.registers_per_thread, 255);
  EXPECT_EQ(space.resources.spill_bytes, 0);
  ASSERT_EQ(space.parameters.size(), 3U);
  EXPECT_EQ(space.parameters[1].values.size(), 2U);
  EXPECT_EQ(space.constraints[0].expression, "(4 * TILE * STAGES) <= 2048");
  ASSERT_EQ(space.milestones.size(), 2U);
  EXPECT_EQ(space.milestones[0].name, "a");
}

TEST_F(Overlay, IsTheSpaceThatIsSpelledOut) {
  Json base = space_json();
  base["constraints"].erase(1);
  write("base.json", base);
  const auto file =
      write("over.json",
            {{"extends", "base.json"},
             {"arch", "sm_90"},
             {"constraints",
              {{{"name", "fits"}, {"expression", "TILE < 99"}}, {{"expression", "STAGES < 3"}}}}});
  base["arch"] = "sm_90";
  base["constraints"] = {{{"expression", "TILE < 99"}}, {{"expression", "STAGES < 3"}}};
  EXPECT_EQ(Space(read_space_file(file)).content_key(), Space(parsed(base)).content_key());
}

TEST_F(Overlay, WhatItExtendsIsAnotherFileBesideIt) {
  const auto extending = [&](const std::string& name) {
    return refusal([&] { (void)read_space_file(write("over.json", {{"extends", name}})); });
  };
  EXPECT_THAT(extending("none.json"), AllOf(HasSubstr("over.json: extends"), HasSubstr("no such")));
  EXPECT_THAT(extending("../a.json"), HasSubstr("same folder"));
  EXPECT_THAT(extending("over.json"), HasSubstr("each once"));
  write("bad.json", {{"format", "evo-tune space 9"}});
  EXPECT_THAT(extending("bad.json"), HasSubstr("bad.json: format"));
}

}  // namespace
}  // namespace evo
