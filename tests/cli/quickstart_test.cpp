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
      make_program(name, "echo \"$(basename \"$0\") $*\"\n");
    }
  }

  void make_program(const std::string& name, const std::string& commands) const {
    const fs::path program = folder_.path() / "build/release/bin" / name;
    write_file(program, "#!/bin/sh\n" + commands);
    fs::permissions(program, fs::perms::owner_all);
  }

  ProgramResult run(const std::string& options) const {
    // run_program() puts program_folder() before the name of the program, so the path of the script
    // must be relative to that folder.
    const std::string away = fs::relative(folder_.path(), program_folder()).string();
    return run_program(away + "/quickstart.sh " + options, folder_.path(), "");
  }

  std::string output_with(const std::string& options) const {
    const ProgramResult result = run(options);
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

TEST_F(Quickstart, NamesTheWinnerOnlyIfThereIsOne) {
  EXPECT_THAT(run("").err, HasSubstr("The results are in evo.db, the winner in out/."));
  make_program("evo-tune", "exit 1\n");
  const ProgramResult result = run("");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("The results are in evo.db; no kernel is green."));
}

TEST_F(Quickstart, ExportsNothingWhenOnlyAsked) {
  EXPECT_THAT(output_with("--help"), Not(HasSubstr("evo-export")));
}

}  // namespace
}  // namespace evo
