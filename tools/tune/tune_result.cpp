#include "tools/tune/tune_result.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/compile/compiler_options.hpp"
#include "engine/gate/correctness/coverage.hpp"
#include "engine/run/gpu_text.hpp"
#include "engine/run/steadiness.hpp"
#include "tools/answers/elite_answers.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/tune/policy_text.hpp"

namespace evo {
namespace {

/// The seeds and shapes of the best kernel's checks; empty if there is no kernel.
std::string coverage_of_winner(const Store& store, const Elite& elite) {
  if (elite.members().empty()) return {};
  return coverage_text(store.evaluation(elite.members().front().id).checks);
}

}  // namespace

std::string report_policy(Workbench& bench, Store& store, RunId run, std::size_t shape,
                          const TuneOptions& options, const TuneReport& report,
                          const Elite& elite) {
  const PolicyRejects rejects = policy_rejects(bench, store, run, shape);
  const RejectionSummary summary = rejections(store, run);
  std::string text = policy_rejects_text(rejects, static_cast<std::size_t>(summary.evaluated),
                                         static_cast<std::size_t>(summary.policy_only));
  std::optional<PolicyCost> cost;
  const TimeKind kind = bench.task().device().time_kind;
  const bool timed = options.time_policy_rejects > 0 && has_device(bench) &&
                     !rejects.rejects.empty() && !elite.members().empty() && !stop_requested();
  if (timed) {
    report.say("timing the candidates that only the policy rejected");
    cost = policy_cost(bench, rejects, elite.members().front(), options.time_policy_rejects, shape);
    const std::string line = policy_cost_text(*cost, kind);
    store.record_event(run, "policy cost", line.substr(0, line.size() - 1));
    text += line;
  }
  if (!rejects.rejects.empty()) report.emit(policy_json(rejects, cost, kind));
  return text;
}

void print_result(const Store& store, RunId run, const TuneOptions& options,
                  const TuneReport& report, const RunProgress& progress, const Elite& elite_now,
                  const std::string& policy) {
  const std::string checked = coverage_of_winner(store, elite_now);
  report.emit({{"event", "finished"},
               {"run", run},
               {"status", to_string(store.run(run).status)},
               {"checked", checked},
               {"evaluated", progress.evaluated},
               {"green", progress.green},
               {"elapsed_s", progress.elapsed_s}});
  if (options.json) return;
  report.say("");
  // Before the first generation is finished, run_elite() returns the green kernels in the order of
  // their times.
  const RunElite stored = run_elite(store, run);
  if (stored.rows.empty()) {
    const Answer why = rejections_answer(store.run(run), rejections(store, run));
    std::cout << why.title << '\n';
    print_text(std::cout, why.table);
    std::cout << why.notes << policy;
    return;
  }
  const Answer elite = elite_answer(stored);
  std::cout << elite.title << '\n';
  print_text(std::cout, elite.table);
  std::cout << elite.notes;
  std::cout << steadiness_text(store.generations(run), stored.rows)
            << gpu_text(gpu_summary(store, run));
  if (!checked.empty()) std::cout << "the winner's checks: " << checked << '\n';
  std::cout << policy;
  std::cout << "export the winner: evo-export --db " << join_options({&options.db, 1}) << " --run "
            << run << " --rank 1 --out DIR\n";
}

}  // namespace evo
