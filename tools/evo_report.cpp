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

void declare(CLI::App& app, ReportOptions& options) {
  add_option(app, "--db", options.db, value_words::kDatabase, "database file")
      ->capture_default_str();
  app.add_option("--run", options.runs,
                 "numbers of the runs to show (default: the newest run with a green kernel, "
                 "else the newest run)")
      ->transform(row_number());
  add_option(app, "--out", options.out, value_words::kFile,
             "file to write; an older report of this name is replaced")
      ->required();
  app.footer(exit_codes({{0, "written"},
                         {1, "written, but a run has no green kernel"},
                         {2, "bad usage or database"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::ReportOptions options;
  CLI::App app(evo::kDescription);
  evo::declare(app, options);
  return evo::tool_main("evo-report", argc, argv, app, [&] { return evo::report(options); });
}
