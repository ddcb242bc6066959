#include "engine/evaluate/builds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::ElementsAre;

class Builds : public testing::Test {
 protected:
  Builds() {
    std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted", folder_.path(),
                          std::filesystem::copy_options::recursive);
    const auto file = folder_.path() / "kernel_templates/planted/problem.json";
    Json problem = read_json_file(file);
    problem["macros"] = {{"IS_TINY", "N < 10"}, {"ODD", "N % 2"}};
    write_file(file, problem.dump());
  }

  /// The builds as lines: "mission,ragged: ODD=1".
  [[nodiscard]] std::vector<std::string> lines(const std::string& shapes) const {
    std::vector<std::string> found;
    for (const ShapesOfBuild& build :
         builds_of(folder_.path() / "search_spaces/planted.json", shapes)) {
      found.push_back(build.names() + ": " + build.macros);
    }
    return found;
  }

  sample::TemporaryFolder folder_;
};

TEST_F(Builds, AreInTheOrderInWhichTheirShapesAreNamed) {
  EXPECT_THAT(lines("single,mission"),
              ElementsAre("single: IS_TINY=1 ODD=1", "mission: IS_TINY=0 ODD=0"));
  EXPECT_THAT(lines("all"), ElementsAre("mission: IS_TINY=0 ODD=0", "ragged: IS_TINY=0 ODD=1",
                                        "single: IS_TINY=1 ODD=1"));
}

TEST_F(Builds, AShapeIsInOneBuildOnlyOnce) {
  EXPECT_THAT(lines("ragged,mission,ragged"),
              ElementsAre("ragged: IS_TINY=0 ODD=1", "mission: IS_TINY=0 ODD=0"));
}

TEST_F(Builds, WithoutAShapeTheSpacesOwnIsMeant) {
  EXPECT_THAT(lines(""), ElementsAre("mission: IS_TINY=0 ODD=0"));
}

TEST_F(Builds, AnUnknownShapeIsRefused) { EXPECT_THROW((void)lines("mission,none"), InputError); }

}  // namespace
}  // namespace evo
