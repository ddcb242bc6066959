// evo-elite: queries the database of runs.

#include <fmt/format.h>

#include <iostream>

#include "db/merge.hpp"
#include "db/store.hpp"
#include "tools/answers/print_answer.hpp"
#include "tools/cli/database_values.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/table.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-elite: prints the best kernels of runs, and why other candidates failed.\n"
    "Without a command, prints the elite of each space, device and shape.\n"
    "Predicted times are marked and never share a table with measured times.";

/// Declares the options. Parsing fills `options` and `merged`, which must outlive `app`.
void declare(CLI::App& app, EliteOptions& options, std::vector<std::string>& merged) {
  add_option(app, "--db", options.db, value_words::kDatabase, "database file")
      ->capture_default_str();
  app.add_option("--run", options.filter.run,
                 "only this run (default: the newest; without a command, one per space, device "
                 "and shape)")
      ->transform(row_number());
  add_option(app, "--device", options.filter.device, value_words::kDevice,
             "only runs on this device: cuda:N, virtual:NAME or part of the device's name");
  add_option(app, "--shape", options.filter.shape, value_words::kShape,
             "only runs that timed this shape");
  CLI::Option* json = app.add_flag("--json", options.json, "print one JSON object per line");
  app.add_flag("--csv", options.csv, "print CSV with a line of headings")->excludes(json);
  app.footer(
      exit_codes({{0, "answered"}, {1, "no kernel is green"}, {2, "bad usage or database"}}));
  app.require_subcommand(0, 1);
  app.fallthrough();
  const auto command = [&](const char* name, Question question, const char* text) {
    return app.add_subcommand(name, text)->callback([&options, question] {
      options.question = question;
    });
  };
  command("show", Question::kShow, "the stored results of one candidate")
      ->add_option("ID", options.show, "number of a candidate, as in the table of the elite")
      ->transform(row_number())
      ->required();
  command("milestones", Question::kMilestones,
          "the milestones, each compared with the previous one");
  command("overall", Question::kOverall, "the best kernels over all shapes of one search")
      ->add_option("--weight", options.weights, "weight of a shape (default: 1)")
      ->type_name("SHAPE=NUMBER");
  command("rejections", Question::kRejections, "number of failures by gate and reason");
  command("compare", Question::kCompare, "two candidates side by side")
      ->add_option("ID", options.compare, "numbers of two candidates, as in the table of the elite")
      ->expected(2)
      ->transform(row_number())
      ->required();
  command("insight", Question::kInsight, "the steps to the winner, and the effect of each macro");
  command("runs", Question::kRuns, "the runs in the database");
  command("merge", Question::kElite, "copy the runs of other databases to this one")
      ->add_option("FILE", merged, "databases to copy from")
      ->type_name(value_words::kDatabase)
      ->required();
}

void print_text(const std::string& file, const MergeCount& count) {
  fmt::print("{}: {} runs added, {} updated, {} unchanged\n", file, count.added, count.replaced,
             count.known);
  if (count.running > 0) {
    fmt::print("{}: {} runs were skipped, because they are still running; merge them later\n", file,
               count.running);
  }
  if (count.on_other_host > 0) {
    fmt::print(
        "{}: {} runs were skipped, because a process on another host may still execute them; "
        "finish them by --resume and merge again\n",
        file, count.on_other_host);
  }
}

ExitCode merge_all(const EliteOptions& options, const std::vector<std::string>& files) {
  const Store store = Store::open(options.db);
  Table table;
  for (const char* name : {"file", "added", "updated", "unchanged", "running", "on_other_host"})
    table.columns.push_back({name, ""});
  for (const std::string& file : files) {
    const MergeCount count = merge(store.connection(), file);
    table.rows.push_back(
        {file, count.added, count.replaced, count.known, count.running, count.on_other_host});
    if (!options.json && !options.csv) print_text(file, count);
  }
  if (options.json) print_json(std::cout, table);
  if (options.csv) print_csv(std::cout, table);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::EliteOptions options;
  CLI::App app(evo::kDescription);
  std::vector<std::string> merged;
  evo::declare(app, options, merged);
  const auto answer = [&] {
    return merged.empty() ? evo::print_answer(options) : evo::merge_all(options, merged);
  };
  return evo::tool_main("evo-elite", argc, argv, app, answer, evo::database_values());
}
