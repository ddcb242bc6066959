#include "tools/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "db/queries.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/report/data.hpp"
#include "tools/report/page.hpp"

namespace evo {
namespace {

/// The runs to show: the runs that --run names, each once; else the newest run with a green kernel;
/// else the newest run.
std::vector<StoredRun> chosen_runs(const Store& store, const ReportOptions& options) {
  std::vector<StoredRun> runs;
  for (const RunId id : options.runs) {
    if (std::ranges::count(runs, id, &StoredRun::id) == 0) runs.push_back(store.run(id));
  }
  if (!runs.empty()) return runs;
  std::vector<StoredRun> all = store.runs();
  if (all.empty())
    throw DbError(options.db + ": the database has no run yet; start one by evo-tune");
  const auto green = std::find_if(all.rbegin(), all.rend(), [&](const StoredRun& run) {
    return !elite_of_run(store, run.id).empty();
  });
  return {green != all.rend() ? *green : all.back()};
}

/// The title of a run: "sdpa_fp8_mma_h200 on NVIDIA H200, mission: 4.62 µs measured".
std::string title_of(const nlohmann::ordered_json& run) {
  const bool predicted = run["device"]["kind"] == "predicted";
  const std::string what =
      fmt::format("{} on {}, {}", run["space"].get<std::string>(),
                  run["device"]["name"].get<std::string>(), run["shape"].get<std::string>());
  if (run["winner"].is_null()) return fmt::format("{}: no kernel is green", what);
  return fmt::format("{}: {:.2f} µs {}", what, run["winner"]["p50_us"].get<double>(),
                     predicted ? "PREDICTED" : "measured");
}

std::string title_of_page(const nlohmann::ordered_json& runs) {
  if (runs.size() == 1) {
    return fmt::format("{} (run {})", title_of(runs[0]), runs[0]["id"].get<RunId>());
  }
  std::string title = fmt::format("{} runs side by side", runs.size());
  for (const nlohmann::ordered_json& run : runs) title += " · " + title_of(run);
  return title;
}

}  // namespace

ExitCode report(const ReportOptions& options) {
  const Store store = Store::open_read_only(options.db);
  nlohmann::ordered_json data = {
      {"format", "evo-tune report 1"}, {"version", EVO_VERSION}, {"runs", nlohmann::json::array()}};
  bool green = true;
  for (const StoredRun& run : chosen_runs(store, options)) {
    data["runs"].push_back(report_of_run(store, run));
    if (!data["runs"].back()["winner"].is_null()) continue;
    green = false;
    std::cerr << "evo-report: " << options.db << ": " << why_no_elite({run})
              << "; the report says why\n";
  }
  write_outputs({{options.out, report_page(title_of_page(data["runs"]), data)}},
                {"evo-report", {kReportMark}});
  std::cout << options.out << '\n';
  return green ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

}  // namespace evo
