// evo-export: writes a winner as files that others can launch.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tools/evo_export_bundle.hpp"
#include "tools/evo_export_results.hpp"
#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string db = "evo.db";
  RunFilter filter;
  int rank = 1;
  CandidateId candidate = 0;
  std::string out;
  std::string name;
  std::string t4;
  std::string kernel_tuner_cache;
};

/// The candidate asked for, or nothing when nothing that fits is green.
std::optional<CandidateId> choose(const Store& store, const Options& options) {
  if (options.candidate > 0) return options.candidate;
  const std::vector<RunElite> found = elites(store, options.filter);
  // Of several spaces, devices and shapes, the newest run.
  const RunElite* newest = nullptr;
  for (const RunElite& elite : found) {
    if (!elite.rows.empty() && (newest == nullptr || elite.run.id > newest->run.id)) {
      newest = &elite;
    }
  }
  if (newest == nullptr) return std::nullopt;
  for (const EliteRow& row : newest->rows) {
    if (row.rank == options.rank) return row.candidate;
  }
  throw InputError("--rank " + std::to_string(options.rank) + ": the elite of run " +
                   std::to_string(newest->run.id) + " has ranks 1 to " +
                   std::to_string(newest->rows.size()));
}

/// What enters an elite has passed all checks; what a device that measures calls green otherwise
/// may only have been screened. Devices that predict know no screening.
bool may_be_screened_only(const Store& store, const StoredRun& run, CandidateId candidate) {
  if (run.info.device.time_kind == TimeKind::kPredicted) return false;
  const std::vector<StoredGeneration> generations = store.generations(run.id);
  return std::ranges::none_of(generations, [&](const StoredGeneration& generation) {
    return std::ranges::find(generation.record.elite, candidate, &EliteEntry::candidate) !=
           generation.record.elite.end();
  });
}

void write(const Bundle& bundle, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError("--out " + folder.string() + ": " + error.message());
  const auto file = [&](const char* extension) { return folder / (bundle.name + extension); };
  write_file(file(".cubin"), bundle.cubin);
  write_file(file(".ptx"), bundle.ptx);
  write_file(file(".cu"), bundle.source);
  // Last: who finds a manifest finds what it names.
  write_file(file(".json"), bundle.manifest);
  for (const char* extension : {".cubin", ".json", ".ptx", ".cu"}) {
    std::cout << file(extension).string() << '\n';
  }
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--db", options.db, "database file")->capture_default_str();
  app.add_option("--run", options.filter.run, "run (default: the newest green one that fits)")
      ->transform(row_number());
  app.add_option("--device", options.filter.device, "cuda:N, virtual:NAME or part of a name");
  app.add_option("--shape", options.filter.shape, "timed shape");
  CLI::Option* rank = app.add_option("--rank", options.rank, "place in the elite")
                          ->capture_default_str()
                          ->transform(whole_number(1, 1000));
  app.add_option("--candidate", options.candidate, "any green candidate instead")
      ->transform(row_number())
      ->excludes(rank);
  app.add_option("--out", options.out, "folder to write to, made when missing");
  app.add_option("--name", options.name, "file name (default: the space's name and the shape)");
  app.add_option("--t4", options.t4,
                 "all results of the run as a T4 file, packed when it ends with .gz");
  app.add_option("--kernel-tuner-cache", options.kernel_tuner_cache,
                 "all results of the run as a cache file of Kernel Tuner");
  app.set_version_flag("--version", "evo-export " EVO_VERSION);
  app.footer("\nExit codes: 0 written; 1 nothing is green; 2 bad usage or database.");
}

/// All results of the newest run that fits.
ExitCode export_results(const Store& store, const Options& options) {
  const std::vector<StoredRun> runs = select_runs(store, options.filter);
  if (runs.empty()) {
    std::cerr << "evo-export: " << options.db << ": no run fits\n";
    return ExitCode::kNothingGreen;
  }
  const StoredRun& run = runs.back();
  const auto write_one = [&](const std::string& file, const RunResults& results) {
    write_results(file, results);
    std::cout << file << '\n';
    if (results.not_judged == 0) return;
    std::cerr << "evo-export: " << file << ": " << results.not_judged
              << " configurations were built and not run; they are left out\n";
  };
  if (!options.t4.empty()) write_one(options.t4, t4_results(store, run));
  if (!options.kernel_tuner_cache.empty()) {
    write_one(options.kernel_tuner_cache, kernel_tuner_cache(store, run));
  }
  if (run.info.device.time_kind == TimeKind::kPredicted) {
    std::cerr << "evo-export: the times of run " << run.id
              << " are PREDICTED by a virtual GPU; the files call them predicted_time\n";
  }
  return ExitCode::kGreen;
}

ExitCode run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "evo-export: the winner as <name>.cubin, <name>.json (how to launch it, what was checked "
      "and\n"
      "timed), <name>.ptx and <name>.cu (one self-contained source); or all results of a run for "
      "other tuners.\n"
      "Prints the files' names.");
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  const bool wants_results = !options.t4.empty() || !options.kernel_tuner_cache.empty();
  if (options.out.empty() && !wants_results) {
    throw InputError(
        "--out: the folder to write the kernel to is required, or --t4 or "
        "--kernel-tuner-cache for the results of a run");
  }
  const Store store = Store::open_read_only(options.db);
  if (wants_results) {
    const ExitCode code = export_results(store, options);
    if (options.out.empty() || code != ExitCode::kGreen) return code;
  }
  const std::optional<CandidateId> candidate = choose(store, options);
  if (!candidate) {
    std::cerr << "evo-export: " << options.db << ": nothing is green in any run that fits\n";
    return ExitCode::kNothingGreen;
  }
  const StoredRun of = store.run(store.evaluation(*candidate).run);
  const Bundle bundle = make_bundle(store, *candidate, options.name);
  if (of.info.device.time_kind == TimeKind::kPredicted) {
    std::cerr << "evo-export: the time in " << bundle.name
              << ".json is PREDICTED by a virtual GPU; nothing was measured\n";
  }
  const StoredEvaluation stored = store.evaluation(*candidate);
  if (may_be_screened_only(store, of, stored.record.duplicate_of.value_or(*candidate))) {
    std::cerr << "evo-export: candidate " << *candidate
              << " was in no elite: it may have been screened only; evo-judge checks it fully\n";
  }
  if (!options.name.empty() && bundle.name != options.name) {
    std::cerr << "evo-export: --name: files are named " << bundle.name
              << ": a name holds letters, digits, '-', '_' and '.', and stays in its folder\n";
  }
  write(bundle, options.out);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-export", [&] { return evo::run(argc, argv); });
}
