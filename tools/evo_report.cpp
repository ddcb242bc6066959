// evo-report: writes one HTML page that explains the winner.

#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/report/report.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-report: writes one HTML page that shows why the winner of a run won.\n"
    "The page is one file, which loads no other files, and can be mailed and printed. "
    "Several runs are shown side by side. Prints the name of the written file.";

ExitCode run(int argc, char** argv) {
  ReportOptions options;
  CLI::App app(kDescription);
  app.add_option("--db", options.db, "database file")
      ->type_name(value_words::kDatabase)
      ->capture_default_str();
  app.add_option("--run", options.runs,
                 "numbers of the runs to show (default: the newest run with a green kernel, "
                 "else the newest run)")
      ->transform(row_number());
  app.add_option("--out", options.out, "file to write; an older report of this name is replaced")
      ->type_name(value_words::kFile)
      ->required();
  app.set_version_flag("--version", "evo-report " EVO_VERSION);
  app.footer(exit_codes({{0, "written"},
                         {1, "written, but a run has no green kernel"},
                         {2, "bad usage or database"}}));
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  return report(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-report", [&] { return evo::run(argc, argv); });
}
