// evo-elite: asks the database of runs.

#include <CLI/CLI.hpp>
#include <iostream>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tools/answers/elite_answers.hpp"
#include "tools/answers/overall.hpp"
#include "tools/answers/run_insight.hpp"
#include "tools/answers/winner_ways.hpp"
#include "tools/cli/database_values.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

struct Options {
  std::string db = "evo.db";
  RunFilter filter;
  bool json = false;
  bool csv = false;
  CandidateId show = 0;
  std::vector<CandidateId> compare;
  std::vector<std::string> weights = {};
};

void print(const Answer& answer, const Options& options) {
  if (options.json) {
    print_json(std::cout, answer.table);
  } else if (options.csv) {
    print_csv(std::cout, answer.table);
  } else {
    std::cout << answer.title << '\n';
    if (!answer.table.rows.empty()) print_text(std::cout, answer.table);
    std::cout << answer.notes;
  }
}

/// The run that was asked for, else the newest that passes the filter.
StoredRun one_run(const Store& store, const Options& options) {
  const std::vector<StoredRun> runs = select_runs(store, options.filter);
  if (runs.empty()) throw DbError(options.db + ": no run fits the given --run, --device, --shape");
  return runs.back();
}

/// All tables as one, for CSV has one line of headings.
Answer merged(std::vector<Answer> answers) {
  Answer all = std::move(answers.front());
  for (std::size_t i = 1; i < answers.size(); ++i) {
    for (auto& row : answers[i].table.rows) all.table.rows.push_back(std::move(row));
  }
  return all;
}

ExitCode print_elites(const Store& store, const Options& options) {
  std::vector<Answer> answers;
  bool green = false;
  for (const RunElite& elite : elites(store, options.filter)) {
    green = green || !elite.rows.empty();
    answers.push_back(elite_answer(elite));
    answers.back().notes += vendor_line(store.vendor_times(elite.run.id));
  }
  if (!green) {
    std::cerr << "evo-elite: " << options.db << ": nothing is green in "
              << (options.filter.run ? "run " + std::to_string(*options.filter.run)
                                     : std::string("any run that fits"))
              << "; evo-elite runs lists the runs, evo-elite rejections says why\n";
    return ExitCode::kNothingGreen;
  }
  if (options.json || options.csv) {
    print(merged(std::move(answers)), options);
    return ExitCode::kGreen;
  }
  const char* separator = "";
  for (const Answer& answer : answers) {
    std::cout << separator;
    print(answer, options);
    separator = "\n";
  }
  return ExitCode::kGreen;
}

void print_candidate(const Store& store, const Options& options) {
  if (options.csv) throw InputError("show has no --csv; use --json");
  if (options.json) {
    using Json = nlohmann::ordered_json;
    std::cout
        << candidate_json(store, options.show).dump(-1, ' ', false, Json::error_handler_t::replace)
        << '\n';
  } else {
    std::cout << candidate_text(store, options.show);
  }
}

/// Why the winner won: the steps that lead to it, and what the run's evaluations say about its
/// knobs.
void print_insight(const Store& store, const StoredRun& run, const Options& options) {
  if (options.csv) throw InputError("insight has no --csv; use --json");
  const Space space = space_of(run);
  const Insight insight = insight_of(store, run, space);
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(insight_json(space, insight));
    json.update(ways_json(store, run));
    std::cout << json << '\n';
  } else {
    std::cout << "insight from run " << run.id << " (" << run.info.space.name << " on "
              << run.info.device.name << ", shape " << run.info.shape << ", "
              << kind_label(run.info.device) << ")\n"
              << ways_text(store, run) << insight_text(space, insight);
  }
}

constexpr const char* kDescription =
    "evo-elite: the best kernels found, and why the others lost.\n"
    "Without a command: the elite of the newest green run of each space, device and shape.\n"
    "Predicted times are marked and never share a table with measured ones.";

/// The parser; what it reads goes to `options`, which must outlive it.
void declare(CLI::App& app, Options& options) {
  app.add_option("--db", options.db, "database file")
      ->type_name(value_words::kDatabase)
      ->capture_default_str();
  app.add_option("--run", options.filter.run, "only this run (default: the newest that fits)")
      ->transform(row_number());
  app.add_option("--device", options.filter.device, "cuda:N, virtual:NAME or part of a name")
      ->type_name(value_words::kDevice);
  app.add_option("--shape", options.filter.shape, "timed shape")->type_name(value_words::kShape);
  CLI::Option* json = app.add_flag("--json", options.json, "one JSON object a line, nothing else");
  app.add_flag("--csv", options.csv, "comma separated, with a line of headings")->excludes(json);
  app.set_version_flag("--version", "evo-elite " EVO_VERSION);
  app.footer(exit_codes({{0, "answered"}, {1, "nothing is green"}, {2, "bad usage or database"}}));
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.add_subcommand("show", "all that is known of one candidate")
      ->add_option("ID", options.show, "candidate, as in the table of the elite")
      ->transform(row_number())
      ->required();
  app.add_subcommand("ladder", "the milestones, each compared with the one before");
  app.add_subcommand("overall", "the kernels that serve all shapes of one search best")
      ->add_option("--weight", options.weights, "how much a shape counts (default: 1)")
      ->type_name("SHAPE=NUMBER");
  app.add_subcommand("rejections", "how many failed which gate, and why");
  app.add_subcommand("compare", "two candidates side by side")
      ->add_option("ID", options.compare, "two candidates, as in the table of the elite")
      ->expected(2)
      ->transform(row_number())
      ->required();
  app.add_subcommand("insight", "why the winner won: steps to it, what each knob does to time");
  app.add_subcommand("runs", "the runs in the database");
}

ExitCode answer(const CLI::App& app, const Options& options) {
  const Store store = Store::open_read_only(options.db);
  if (app.got_subcommand("show")) {
    print_candidate(store, options);
  } else if (app.got_subcommand("ladder")) {
    const StoredRun run = one_run(store, options);
    print(ladder_answer(run, ladder(store, run.id)), options);
  } else if (app.got_subcommand("overall")) {
    const StoredRun run = one_run(store, options);
    print(overall_answer(store, run.id, parse_weights(options.weights)), options);
  } else if (app.got_subcommand("rejections")) {
    const StoredRun run = one_run(store, options);
    print(rejections_answer(run, rejections(store, run.id)), options);
  } else if (app.got_subcommand("compare")) {
    print(compare_answer(store, options.compare.at(0), options.compare.at(1)), options);
  } else if (app.got_subcommand("insight")) {
    print_insight(store, one_run(store, options), options);
  } else if (app.got_subcommand("runs")) {
    print(runs_answer(select_runs(store, options.filter)), options);
  } else {
    return print_elites(store, options);
  }
  return ExitCode::kGreen;
}

ExitCode run(int argc, char** argv) {
  Options options;
  CLI::App app(kDescription);
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv, database_values())) return *done;
  return answer(app, options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-elite", [&] { return evo::run(argc, argv); });
}
