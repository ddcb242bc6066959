// Tests the program evo-report: the page that it writes, and the input that it rejects.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EvoReport : public testing::Test {
 protected:
  ProgramResult report(const std::string& arguments) const {
    return run_program("evo-report " + arguments, folder_.path());
  }
  std::string page(const std::string& name = "r.html") const {
    return read_text_file(folder_.path() / name);
  }
  RunId add_run(double p50_us, TimeKind kind = TimeKind::kMeasured) {
    const RunId run = store_.start_run(sample::run_info(kind));
    const CompilationId compilation = store_.put_compilation(sample::compilation("a"));
    store_.record_evaluation(run, sample::green(0, 0, compilation, p50_us, kind));
    return run;
  }
  /// Expects that the folder has no files except `names` and the database.
  void expect_only(const std::vector<std::string>& names) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name.starts_with("evo.db") || std::ranges::find(names, name) != names.end())
          << name;
    }
  }

  sample::TemporaryFolder folder_;
  Store store_ = Store::open(folder_.path() / "evo.db");
};

TEST_F(EvoReport, OfTheNewestGreenRunIsOneFileWithTheKindOfTimesInItsTitle) {
  add_run(20);
  add_run(7.5);
  store_.start_run(sample::run_info());  // a newer run without candidates
  const ProgramResult result = report("--out r.html");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "r.html\n");
  EXPECT_THAT(
      page(),
      HasSubstr("<title>copy_h200 on NVIDIA H200, mission: 7.50 µs measured (run 2)</title>"));
  expect_only({"r.html"});
  add_run(7.5, TimeKind::kPredicted);
  EXPECT_EQ(report("--out r.html").exit_code, 0);
  EXPECT_THAT(page(), HasSubstr("7.50 µs PREDICTED (run 4)</title>"));
}

TEST_F(EvoReport, TakesSeveralRuns) {
  add_run(20);
  add_run(10);
  for (const char* runs : {"--run 1 2", "--run 1 --run 2", "--run 1 2 1"}) {
    EXPECT_EQ(report(std::string("--out r.html ") + runs).exit_code, 0) << runs;
    EXPECT_THAT(page(), HasSubstr("<title>2 runs side by side")) << runs;
  }
}

TEST_F(EvoReport, RefusesWhatIsNotThere) {
  ProgramResult result = report("--out r.html");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("evo.db"), HasSubstr("the database has no run yet")));
  add_run(20);
  result = report("--out r.html --run 1 77");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("77"));
  EXPECT_EQ(report("--db none.db --out r.html").exit_code, 2);
  EXPECT_EQ(report("").exit_code, 2);
  expect_only({});
}

TEST_F(EvoReport, OfARunWithNothingGreenIsWrittenAndExitCodeOne) {
  const RunId run = store_.start_run(sample::run_info());
  store_.record_evaluation(run, sample::rejected(0, 0, {.gate = Gate::kBuild, .reason = "no"}));
  const ProgramResult result = report("--out r.html");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no kernel is green in run 1"));
  EXPECT_THAT(page(), HasSubstr("mission: no kernel is green (run 1)</title>"));
}

TEST_F(EvoReport, ReplacesAFileAsAWholeOrNotAtAll) {
  add_run(20);
  const std::string old = R"(<meta name="generator" content="evo-report">)";
  write_file(folder_.path() / "r.html", old);
  EXPECT_EQ(report("--out r.html").exit_code, 0);
  EXPECT_THAT(page(), HasSubstr("</html>"));
  EXPECT_EQ(report("--out r.html").exit_code, 0) << "evo-report may replace a page that it wrote";
  write_file(folder_.path() / "r.html", "__global__ void mine();");
  EXPECT_EQ(report("--out r.html").exit_code, 2);
  EXPECT_EQ(page(), "__global__ void mine();");
  write_file(folder_.path() / "r.html", old);
  // The page has more than 1 MB, and the shell's `ulimit -f 100` allows at most 100 KiB, so
  // evo-report cannot write the whole page.
  const ProgramResult result =
      run_program("evo-report --out r.html", folder_.path(), "ulimit -f 100; ");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("r.html"), HasSubstr("cannot be written")));
  EXPECT_EQ(page(), old);
  expect_only({"r.html"});
}

TEST_F(EvoReport, NamesTheFileThatCannotBeWritten) {
  add_run(20);
  fs::create_directory(folder_.path() / "folder");
  for (const char* out : {"nowhere/r.html", "folder", "evo.db"}) {
    const ProgramResult result = report(std::string("--out '") + out + "'");
    EXPECT_EQ(result.exit_code, 2) << out;
    EXPECT_THAT(result.err, HasSubstr("cannot be written")) << out;
    EXPECT_EQ(result.out, "") << out;
  }
  expect_only({"folder"});
}

TEST_F(EvoReport, HelpFitsOneScreenAndShowsDefaults) {
  const ProgramResult result = report("--help");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(std::ranges::count(result.out, '\n'), 30);
  EXPECT_THAT(result.out, HasSubstr("database file (default: evo.db)"));
}

}  // namespace
}  // namespace evo
