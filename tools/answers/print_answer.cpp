#include "tools/answers/print_answer.hpp"

#include <iostream>

#include "tools/answers/elite_answers.hpp"
#include "tools/answers/overall.hpp"
#include "tools/answers/run_insight.hpp"
#include "tools/answers/winner_ways.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

void print(const Answer& answer, const EliteOptions& options) {
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

/// The run that --run names, or else the newest run that matches the filter. Throws DbError if no
/// run matches.
StoredRun one_run(const Store& store, const EliteOptions& options) {
  const std::vector<StoredRun> runs = select_runs(store, options.filter);
  if (runs.empty())
    throw DbError(options.db + ": no run matches the given --run, --device, --shape");
  return runs.back();
}

/// Throws InputError unless the candidate is of a run that matches --run, --device and --shape.
void require_match(const Store& store, CandidateId candidate, RunFilter filter) {
  const RunId run = store.evaluation(candidate).run;
  const bool is_other = filter.run && *filter.run != run;
  filter.run = run;
  if (!is_other && !select_runs(store, filter).empty()) return;
  throw InputError("candidate " + std::to_string(candidate) + " is of run " + std::to_string(run) +
                   ", which does not match the given --run, --device, --shape");
}

/// Combines all tables into one for --json and --csv, because a CSV file has one line of headings.
Answer merged(std::vector<Answer> answers) {
  Answer all = std::move(answers.front());
  for (std::size_t i = 1; i < answers.size(); ++i) {
    for (auto& row : answers[i].table.rows) all.table.rows.push_back(std::move(row));
  }
  return all;
}

ExitCode print_elites(const Store& store, const EliteOptions& options) {
  std::vector<Answer> answers;
  bool green = false;
  for (const RunElite& elite : elites(store, options.filter)) {
    green = green || !elite.rows.empty();
    answers.push_back(elite_answer(elite));
    answers.back().notes += vendor_line(store.vendor_times(elite.run.id));
  }
  if (!green) {
    std::cerr << "evo-elite: " << options.db << ": "
              << why_no_elite(select_runs(store, options.filter))
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

void print_candidate(const Store& store, const EliteOptions& options) {
  if (options.csv) throw InputError("show has no --csv; use --json");
  if (options.json) {
    std::cout
        << candidate_json(store, options.show).dump(-1, ' ', false, Json::error_handler_t::replace)
        << '\n';
  } else {
    std::cout << candidate_text(store, options.show);
  }
}

/// Explains the winner: the steps that lead to it, and what the run's evaluations show about the
/// macros.
void print_insight(const Store& store, const StoredRun& run, const EliteOptions& options) {
  if (options.csv) throw InputError("insight has no --csv; use --json");
  const Space space = space_of(run);
  const Insight insight = insight_of(store, run, space);
  if (options.json) {
    Json json = Json::parse(insight_json(space, insight));
    json.update(ways_json(store, run));
    std::cout << json << '\n';
  } else {
    std::cout << "insight from run " << run.id << " (" << run.info.space.name << " on "
              << run.info.device.name << ", shape " << run.info.shape << ", "
              << kind_label(run.info.device) << ")\n"
              << ways_text(store, run) << insight_text(space, insight);
  }
}

}  // namespace

ExitCode print_answer(const EliteOptions& options) {
  const Store store = Store::open_read_only(options.db);
  switch (options.question) {
    case Question::kElite:
      return print_elites(store, options);
    case Question::kShow:
      require_match(store, options.show, options.filter);
      print_candidate(store, options);
      break;
    case Question::kMilestones: {
      const StoredRun run = one_run(store, options);
      print(milestones_answer(run, milestone_results(store, run.id)), options);
      break;
    }
    case Question::kOverall:
      print(overall_answer(store, one_run(store, options).id, parse_weights(options.weights)),
            options);
      break;
    case Question::kRejections: {
      const StoredRun run = one_run(store, options);
      print(rejections_answer(run, rejections(store, run.id)), options);
      break;
    }
    case Question::kCompare:
      for (const CandidateId one : options.compare) require_match(store, one, options.filter);
      print(compare_answer(store, options.compare.at(0), options.compare.at(1)), options);
      break;
    case Question::kInsight:
      print_insight(store, one_run(store, options), options);
      break;
    case Question::kRuns:
      print(runs_answer(select_runs(store, options.filter)), options);
      break;
  }
  return ExitCode::kGreen;
}

}  // namespace evo
