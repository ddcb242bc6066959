#include "tools/export/export_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "db/queries.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/export/exported_kernel.hpp"
#include "tools/export/results.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

/// The candidate of rank `rank` in the elite of the newest matching run with a green kernel;
/// nullopt if there is no such run. Throws InputError if the elite has no such rank.
std::optional<CandidateId> choose(const Store& store, const RunFilter& filter, int rank) {
  const std::vector<RunElite> found = elites(store, filter);
  // Uses the newest run if several spaces, devices or shapes match.
  const RunElite* newest = nullptr;
  for (const RunElite& elite : found) {
    if (!elite.rows.empty() && (newest == nullptr || elite.run.id > newest->run.id)) {
      newest = &elite;
    }
  }
  if (newest == nullptr) return std::nullopt;
  for (const EliteRow& row : newest->rows) {
    if (row.rank == rank) return row.candidate;
  }
  throw InputError("--rank " + std::to_string(rank) + ": the elite of run " +
                   std::to_string(newest->run.id) + " has ranks 1 to " +
                   std::to_string(newest->rows.size()));
}

void write(const KernelExport& kernel, const fs::path& folder) {
  const auto file = [&](const char* extension) { return folder / (kernel.name + extension); };
  // The manifest is written last, so that the files that it names exist.
  write_outputs(
      {{file(".cubin"), kernel.cubin, true},
       {file(".ptx"), kernel.ptx, true},
       {file(".cu"), kernel.source},
       {file(".json"), kernel.manifest.dump(2) + "\n"}},
      // Replaces only files that evo-export wrote, because a template and its problem.json may
      // have the names of the exported files.
      {.writer = "evo-export", .marks = {kExportedSource, kManifestFormat}, .makes_folders = true});
  for (const char* extension : {".cubin", ".json", ".ptx", ".cu"}) {
    std::cout << file(extension).string() << '\n';
  }
}

/// The filter for an export from one run; the callers take the newest run if several match. Throws
/// InputError if --db or --run is repeated, which only a bundle allows.
RunFilter single_run(const ExportSource& source) {
  if (source.dbs.size() > 1 || source.runs.size() > 1) {
    throw InputError(std::string(source.dbs.size() > 1 ? "--db" : "--run") +
                     ": may be repeated with --bundle only");
  }
  RunFilter filter{.device = source.device, .shape = source.shape};
  if (!source.runs.empty()) filter.run = source.runs.front();
  return filter;
}

/// Writes all results of the newest run that matches the filter.
ExitCode export_results(const Store& store, const RunFilter& filter, const std::string& db,
                        const RunExportOptions& options) {
  const std::vector<StoredRun> runs = select_runs(store, filter);
  if (runs.empty()) {
    std::cerr << "evo-export: " << db << ": no run matches the given --run, --device and --shape\n";
    return ExitCode::kNothingGreen;
  }
  const StoredRun& run = runs.back();
  const auto write_one = [&](const std::string& file, const RunResults& results) {
    write_results(file, results, "evo-export");
    std::cout << file << '\n';
    if (results.not_judged == 0) return;
    std::cerr << "evo-export: " << file << ": " << results.not_judged
              << " configurations were compiled but not run; the files do not contain them\n";
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

/// Writes the files of a kernel, and prints a note if the kernel's time is predicted, if it may
/// lack a full check, or if its name had to be changed.
void export_kernel_files(const Store& store, CandidateId candidate, const std::string& name,
                         const fs::path& folder) {
  const StoredRun of = store.run(store.evaluation(candidate).run);
  const KernelExport kernel = export_kernel(store, candidate, name);
  if (of.info.device.time_kind == TimeKind::kPredicted) {
    std::cerr << "evo-export: the time in " << kernel.name
              << ".json is PREDICTED by a virtual GPU; nothing was measured\n";
  }
  note_only_quick_check(store, candidate);
  if (!name.empty() && kernel.name != name) {
    std::cerr << "evo-export: --name: files are named " << kernel.name
              << ": a name may contain letters, digits, '-', '_' and '.'\n";
  }
  write(kernel, folder);
}

}  // namespace

void note_only_quick_check(const Store& store, CandidateId candidate) {
  // A member of an elite has passed a full check, so no warning is needed.
  const EvaluationRecord evaluation = store.evaluation(candidate);
  const CandidateId checked = evaluation.duplicate_of.value_or(candidate);
  for (const StoredGeneration& generation : store.generations(evaluation.run)) {
    const std::vector<CandidateId>& elite = generation.record.elite;
    if (std::ranges::find(elite, checked) != elite.end()) return;
  }
  std::cerr << "evo-export: candidate " << candidate
            << " was in no elite, so it may have passed only a shortened check; "
               "evo-judge checks it fully\n";
}

ExitCode export_run(const ExportSource& source, const RunExportOptions& options) {
  const RunFilter filter = single_run(source);
  const bool wants_results = !options.t4.empty() || !options.kernel_tuner_cache.empty();
  if (options.out.empty() && !wants_results) {
    throw InputError(
        "name an output: --out FOLDER or --bundle FOLDER for kernels, "
        "--t4 FILE or --kernel-tuner-cache FILE for the results of a run");
  }
  require_two_files("--t4", options.t4, options.kernel_tuner_cache);
  const std::string& db = source.dbs.front();
  const Store store = Store::open_read_only(db);
  if (wants_results) {
    const ExitCode code = export_results(store, filter, db, options);
    if (options.out.empty() || code != ExitCode::kGreen) return code;
  }
  const std::optional<CandidateId> candidate =
      source.candidate > 0 ? source.candidate : choose(store, filter, options.rank);
  if (!candidate) {
    std::cerr << "evo-export: " << db << ": " << why_no_elite(select_runs(store, filter)) << '\n';
    return ExitCode::kNothingGreen;
  }
  export_kernel_files(store, *candidate, source.name, options.out);
  return ExitCode::kGreen;
}

}  // namespace evo
