#include "tools/cli/candidate_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

Space planted_space() {
  return Space(read_space_file(EVO_SOURCE_DIR "/tests/planted/search_spaces/planted_faults.json"));
}

/// The configuration that a command line selects.
std::string selected(const std::string& command_line) {
  CandidateOptions options;
  CLI::App app;
  options.declare(app);
  app.parse(command_line);
  EXPECT_EQ(options.any(), !command_line.empty());
  const Space space = planted_space();
  return space.config_json(options.candidate(space));
}

TEST(CandidateOptions, SettingsReplaceValuesOfTheMilestoneOrTheDefaults) {
  EXPECT_EQ(selected(""), R"({"BUG":"none","THREADS":64,"ITEMS":1,"UNUSED_ALIAS":0})");
  EXPECT_EQ(selected("--set ITEMS=2 BUG=leaves_nan"),
            R"({"BUG":"leaves_nan","THREADS":64,"ITEMS":2,"UNUSED_ALIAS":0})");
  EXPECT_EQ(selected("--set ITEMS=4 --milestone clean"),
            R"({"BUG":"none","THREADS":256,"ITEMS":4,"UNUSED_ALIAS":0})");
}

TEST(CandidateOptions, MistakesAreNamedWithTheOption) {
  const auto refusal = [](const std::string& command_line) -> std::string {
    try {
      return selected(command_line);
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal("--set ITEMS"), HasSubstr("--set ITEMS: allowed: MACRO=VALUE"));
  EXPECT_THAT(refusal("--set ITEMS=2 ITEMS=4"), HasSubstr("ITEMS is set twice"));
  EXPECT_THAT(refusal("--set ITEMS=2,THREADS=64"), HasSubstr("--set ITEMS=2 THREADS=64"));
  EXPECT_THAT(refusal("--milestone claen"), HasSubstr("--milestone: unknown milestone 'claen'"));
}

}  // namespace
}  // namespace evo
