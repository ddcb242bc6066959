#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

const char* const kGood = R"({
  // comments are allowed
  "format": "evo-tune space 1", "name": "n", "description": "d", "problem": "p", "template": "t",
  "arch": "sm_89", "shape": "mission",
  "parameters": [
    {"macro": "TILE", "values": [32, 64, 128], "default": 64, "meaning": "keys per tile"},
    {"macro": "SWIZZLE", "values": ["none", "xor"], "meaning": "layout"},
    {"macro": "SCALE", "values": [0.5, 1.25], "meaning": "a real"},
    {"macro": "ASYNC", "values": [false, true], "meaning": "cp.async"}
  ],
  "constraints": [{"expression": "SWIZZLE != SWIZZLE_XOR || TILE <= 64", "why": "w"}],
  "resources": {"registers_per_thread": 120, "spill_bytes": 0},
  "compiler_options": ["--use_fast_math"],
  "milestones": [{"name": "async", "set": {"ASYNC": true, "SWIZZLE": "xor"}, "note": "x"}]
})";

class SpaceFile : public testing::Test {
 protected:
  SpaceFile()
      : file_(std::filesystem::path(testing::TempDir()) /
              (std::string("space_") +
               testing::UnitTest::GetInstance()->current_test_info()->name() + ".json")) {}
  ~SpaceFile() override { std::filesystem::remove(file_); }

  Space load(const std::string& text) {
    write_file(file_, text);
    return Space(read_space_file(file_));
  }

  /// Replaces the text `from` in a valid space file by `to`, and returns the error message, or
  /// "accepted" if there is none.
  std::string error_with(const std::string& from, const std::string& to) {
    std::string text = kGood;
    const auto at = text.find(from);
    if (at == std::string::npos) return "not found: " + from;
    text.replace(at, from.size(), to);
    try {
      write_file(file_, text);
      const Space space(read_space_file(file_));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path file_;
};

TEST_F(SpaceFile, ReadsEveryPart) {
  write_file(file_, kGood);
  const Space space(read_space_file(file_));
  EXPECT_EQ(space.definition().template_name, "t");
  EXPECT_EQ(space.definition().resources.registers_per_thread, 120);
  EXPECT_EQ(space.definition().resources.shared_bytes_per_cta, std::nullopt);
  EXPECT_EQ(space.definition().resources.spill_bytes, 0);
  EXPECT_EQ(space.count().value, 3 * 2 * 2 * 2 - 4);
  EXPECT_EQ(space.config_json(space.defaults()),
            R"({"TILE":64,"SWIZZLE":"none","SCALE":0.5,"ASYNC":false})");
  EXPECT_EQ(space.config_json(space.definition().milestones.at(0).candidate),
            R"({"TILE":64,"SWIZZLE":"xor","SCALE":0.5,"ASYNC":true})");
  EXPECT_EQ(space.macros(space.definition().milestones.at(0).candidate).back(),
            (std::pair<std::string, std::string>{"ASYNC", "1"}));
  EXPECT_TRUE(space.is_ordered(0));
  EXPECT_FALSE(space.is_ordered(1));
}

TEST_F(SpaceFile, ErrorsNameFileKeyValueAndWhatIsAllowed) {
  const auto check = [&](const std::string& from, const std::string& to,
                         const std::vector<std::string>& parts) {
    const std::string message = error_with(from, to);
    for (const std::string& part : parts) EXPECT_THAT(message, HasSubstr(part)) << to;
  };
  check(R"("arch": "sm_89",)", R"("arch": "sm_89", "colour": 3,)", {"colour", "3", "unknown key"});
  check("[32, 64, 128]", "[]", {"parameters[0].values", "at least one"});
  check("[32, 64, 128]", "[32, 64, 64.0]", {"parameters[0].values", "64.0 appears twice"});
  check("[32, 64, 128]", "[32, 64, \"x\"]",
        {"parameters[0].values", "names and numbers are mixed"});
  check("[32, 64, 128]", "[32, null]", {"parameters[0].values", "null", "allowed"});
  check("\"default\": 64", "\"default\": 65", {"parameters[0].default", "65", "32, 64, 128"});
  check("\"macro\": \"SCALE\"", "\"macro\": \"TILE\"", {"'TILE' appears twice"});
  check("\"macro\": \"SCALE\"", "\"macro\": \"SWIZZLE_XOR\"", {"SWIZZLE_XOR", "is already used"});
  check("\"macro\": \"SCALE\"", "\"macro\": \"9S\"", {"parameters[2].macro", "9S", "identifier"});
  check("TILE <= 64", "TYLE <= 64", {"constraints[0].expression", "'TYLE'", "macros: "});
  check("TILE <= 64", "TILE <=", {"constraints[0].expression", "bad expression"});
  check("|| TILE <= 64", "&& TILE < 0", {"exclude each other", "TILE < 0"});
  check("SWIZZLE != SWIZZLE_XOR || TILE <= 64", "TILE != 64", {"defaults", "TILE != 64", "(w)"});
  check("\"ASYNC\": true", "\"ASYNC\": 1", {"milestones[0].set.ASYNC", "false, true"});
  check("\"ASYNC\": true", "\"ASINC\": true", {"milestones[0].set.ASINC", "unknown key"});
  check("\"spill_bytes\": 0", "\"spill_bytes\": -1", {"resources.spill_bytes", "-1"});
  check("space 1", "space 2", {"format", "space 2", "evo-tune space 1"});
  check("[32, 64, 128]", "[32, 9007199254740992]", {"parameters[0].values", "2^53"});
  for (const char* number : {"64", "0x20", "1e3", "007", "true", "False"}) {
    check("[32, 64, 128]", "[\"" + std::string(number) + "\", \"two\"]",
          {"parameters[0].values", number, "a value in quotes is a name", "allowed: numbers"});
  }
  check("[32, 64, 128]", "[1, true]", {"parameters[0].values", "true appears twice"});
  check("[\"none\", \"xor\"]", "[\"none\", \"_xor\"]", {"SWIZZLE__XOR", "reserved"});
  for (const char* name : {"int", "min", "and", "__CUDA_ARCH__", "_Big", "A__B", "SM_COUNT"}) {
    check("\"macro\": \"SCALE\"", std::string("\"macro\": \"") + name + "\"",
          {"parameters[2].macro", name, "allowed: an unused C identifier"});
  }
  check("\"name\": \"n\"", "\"name\": \"a/b\"", {"name: \"a/b\"", "allowed: 1 to 100 letters"});
  check("\"problem\": \"p\"", "\"problem\": \"../p\"",
        {"problem: \"../p\"", "not beginning with '.'"});
  check("\"shape\": \"mission\"", "\"shape\": \"x'; drop\"", {"shape", "letters"});
  check("\"sm_89\"", "\"sm_89;rm\"", {"arch", "sm_90a"});
  check("\"name\": \"async\"", "\"name\": \"a\\nb\"", {"milestones[0].name", "one line"});
  check("\"spill_bytes\": 0", "\"spill_bytes\": 18446744073709551615", {"allowed: an integer"});
  check("TILE <= 64", "TILE = 64", {"constraints[0].expression", "write =="});
  check("\"meaning\": \"layout\"", "\"meaning\": 3", {"parameters[1].meaning", "3"});
}

TEST_F(SpaceFile, MeaningsAndReasonsMayBeLeftOut) {
  std::string text = kGood;
  for (const std::string part : {R"(, "meaning": "keys per tile")", R"(, "why": "w")"}) {
    text.erase(text.find(part), part.size());
  }
  EXPECT_EQ(load(text).content_key(), load(kGood).content_key());
  EXPECT_THAT(error_with(R"("SWIZZLE != SWIZZLE_XOR || TILE <= 64", "why": "w")", "\"TILE != 64\""),
              HasSubstr("violate 'TILE != 64'"));
}

TEST_F(SpaceFile, RangesAreTheListsTheyStandFor) {
  const auto texts = [&](const std::string& values) {
    std::string text = kGood;
    text.replace(text.find("[32, 64, 128]"), 13, values);
    text.replace(text.find("\"default\": 64, "), 15, "");
    std::string list;
    const Space space = load(text);
    for (const ParameterValue& value : space.parameters()[0].values) list += value.text + " ";
    return list;
  };
  EXPECT_EQ(texts(R"({"from": 16, "to": 64, "step": 16})"), "16 32 48 64 ");
  EXPECT_EQ(texts(R"({"from": -1, "to": 3, "step": 3})"), "-1 2 ");
  EXPECT_EQ(texts(R"({"from": 1, "to": 64, "times": 2})"), "1 2 4 8 16 32 64 ");
  EXPECT_EQ(texts(R"({"from": 3, "to": 60, "times": 4})"), "3 12 48 ");
  EXPECT_EQ(texts(R"({"from": 7, "to": 7, "step": 9007199254740990})"), "7 ");
  std::string range = kGood;
  range.replace(range.find("[32, 64, 128]"), 13, R"({"from": 32, "to": 128, "times": 2})");
  EXPECT_EQ(load(range).content_key(), load(kGood).content_key());
}

TEST_F(SpaceFile, ARangeThatIsNoneSaysWhatIsAllowed) {
  const auto check = [&](const std::string& range, const std::string& key,
                         const std::string& allowed) {
    EXPECT_THAT(error_with("[32, 64, 128]", range),
                testing::AllOf(HasSubstr("parameters[0].values." + key), HasSubstr(allowed)))
        << range;
  };
  check(R"({"from": 1, "to": 9})", "step", "missing");
  check(R"({"from": 1, "to": 9, "step": 0})", "step", "above 0");
  check(R"({"from": 1, "to": 9, "step": 0.5})", "step", "integer");
  check(R"({"from": 1, "to": 9, "times": 1})", "times", "at least 2");
  check(R"({"from": 0, "to": 9, "times": 2})", "from", "above 0");
  check(R"({"from": 9, "to": 1, "step": 1})", "to", "at least \"from\", 9");
  check(R"({"from": 1, "to": 9, "step": 1, "times": 2})", "times", "one of");
  check(R"({"from": 1, "to": 65536, "step": 1})", "to", "more than 65535 values");
  check(R"({"from": 1, "to": 9007199254740992, "times": 2})", "to", "2^53");
  check(R"({"from": 1, "to": 9, "step": 1, "by": 2})", "by", "unknown key");
}

TEST_F(SpaceFile, ATableOfAllowedConfigurations) {
  const std::string milestones = "\"milestones\"";
  const auto with = [&](const std::string& table) {
    std::string text = kGood;
    return text.replace(text.find(milestones), milestones.size(),
                        "\"allowed\": " + table + ", " + milestones);
  };
  const Space space =
      load(with(R"([[64, "none", 0.5, false], [64, "xor", 0.5, true], [32, "xor", 1.25, true]])"));
  EXPECT_EQ(space.rank_count(), 3U);
  EXPECT_EQ(space.config_json(space.at_rank(0).value()),
            R"({"TILE":32,"SWIZZLE":"xor","SCALE":1.25,"ASYNC":true})");
  const auto error = [&](const std::string& table) {
    return error_with(milestones, "\"allowed\": " + table + ", " + milestones);
  };
  EXPECT_THAT(error("[]"), HasSubstr("allowed: a list of at least one configuration"));
  EXPECT_THAT(error("[[64]]"), HasSubstr("allowed[0]: [64]: allowed: a list of 4 values"));
  EXPECT_THAT(error(R"([[65, "none", 0.5, false]])"),
              HasSubstr("allowed[0]: TILE: 65: allowed: 32, 64, 128"));
  EXPECT_THAT(error(R"([[64, "none", 0.5, false]])"),
              HasSubstr("milestones[0]: 'async'"));  // the table does not contain it
}

}  // namespace
}  // namespace evo
