// Tests how quickstart.sh passes its options to evo-tune and evo-export, which are scripts here
// that only print their arguments.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A folder with a copy of quickstart.sh, in which the script neither installs nor builds anything.
class Quickstart : public testing::Test {
 protected:
  Quickstart() {
    fs::create_directories(folder_.path() / "cmake");
    fs::create_directories(folder_.path() / "build/release/bin");
    fs::copy(source_folder() / "quickstart.sh", folder_.path());
    write_file(folder_.path() / "cmake/setup.sh", "say() { :; }\nsetup_and_build() { :; }\n");
    for (const char* name : {"evo-tune", "evo-export"}) {
      const fs::path program = folder_.path() / "build/release/bin" / name;
      write_file(program, "#!/bin/sh\necho \"$(basename \"$0\") $*\"\n");
      fs::permissions(program, fs::perms::owner_all);
    }
  }

  std::string output_with(const std::string& options) const {
    // run_program() puts program_folder() before the name of the program, so the path of the script
    // must be relative to that folder.
    const std::string away = fs::relative(folder_.path(), program_folder()).string();
    const ProgramResult result =
        run_program(away + "/quickstart.sh " + options, folder_.path(), "");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  sample::TemporaryFolder folder_;
};

TEST_F(Quickstart, RunsTwentyGenerationsAndExportsTheWinner) {
  EXPECT_EQ(output_with(""),
            "evo-tune --generations 20 --db evo.db\nevo-export --db evo.db --rank 1 --out out\n");
}

TEST_F(Quickstart, TakesOtherGenerationsAndAnotherDatabase) {
  EXPECT_THAT(output_with("--generations 5"), HasSubstr("evo-tune --db evo.db --generations 5\n"));
  EXPECT_THAT(output_with("--generations=5"), HasSubstr("evo-tune --db evo.db --generations=5\n"));
  EXPECT_THAT(output_with("--db other.db"), HasSubstr("evo-export --db other.db --rank 1"));
  EXPECT_THAT(output_with("--db=other.db"), HasSubstr("evo-export --db other.db --rank 1"));
}

TEST_F(Quickstart, ExportsNothingWhenOnlyAsked) {
  EXPECT_THAT(output_with("--help"), Not(HasSubstr("evo-export")));
}

}  // namespace
}  // namespace evo
