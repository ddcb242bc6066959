// evo-export: writes a winner as files that others can launch.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tools/bundle/export_bundle.hpp"
#include "tools/cli/database_values.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/export/exported_kernel.hpp"
#include "tools/export/results.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> dbs = {"evo.db"};
  std::vector<RunId> runs;
  RunFilter filter;
  int rank = 1;
  CandidateId candidate = 0;
  std::string out;
  std::string name;
  std::string t4;
  std::string kernel_tuner_cache;
  BundleOptions bundle;

  /// What all but a bundle takes from one database.
  [[nodiscard]] const std::string& db() const { return dbs.front(); }
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

/// What enters an elite has passed all checks; what is green otherwise may only have been screened.
bool may_be_screened_only(const Store& store, const StoredRun& run, CandidateId candidate) {
  const std::vector<StoredGeneration> generations = store.generations(run.id);
  return std::ranges::none_of(generations, [&](const StoredGeneration& generation) {
    return std::ranges::find(generation.record.elite, candidate, &EliteEntry::candidate) !=
           generation.record.elite.end();
  });
}

void write(const KernelExport& kernel, const fs::path& folder) {
  const auto file = [&](const char* extension) { return folder / (kernel.name + extension); };
  // The manifest last: who finds it finds what it names.
  write_outputs(
      {{file(".cubin"), kernel.cubin, true},
       {file(".ptx"), kernel.ptx, true},
       {file(".cu"), kernel.source},
       {file(".json"), kernel.manifest.dump(2) + "\n"}},
      // A template and its problem.json may lie there under the same names.
      {.writer = "evo-export", .marks = {kExportedSource, kManifestFormat}, .makes_folders = true});
  for (const char* extension : {".cubin", ".json", ".ptx", ".cu"}) {
    std::cout << file(extension).string() << '\n';
  }
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--db", options.dbs, "database file; of a bundle, one or several")
      ->type_name(value_words::kDatabase)
      ->capture_default_str();
  app.add_option("--run", options.runs,
                 "run (default: the newest green one that fits; of a bundle, all)")
      ->transform(row_number());
  app.add_option("--device", options.filter.device, "cuda:N, virtual:NAME or part of a name")
      ->type_name(value_words::kDevice);
  app.add_option("--shape", options.filter.shape, "timed shape")->type_name(value_words::kShape);
  CLI::Option* rank = app.add_option("--rank", options.rank, "place in the elite")
                          ->capture_default_str()
                          ->transform(whole_number(1, 1000));
  app.add_option("--candidate", options.candidate, "any green candidate instead")
      ->transform(row_number())
      ->excludes(rank);
  app.add_option("--out", options.out, "folder to write to, made when missing")
      ->type_name(value_words::kFolder);
  app.add_option("--name", options.name, "file name (default: the space's name and the shape)")
      ->type_name("NAME");
  app.add_option("--t4", options.t4,
                 "all results of the run as a T4 file, packed when it ends with .gz")
      ->type_name(value_words::kFile);
  app.add_option("--kernel-tuner-cache", options.kernel_tuner_cache,
                 "all results of the run as a cache file of Kernel Tuner")
      ->type_name(value_words::kFile);
  CLI::Option* bundle = app.add_option("--bundle", options.bundle.folder,
                                       "folder for the winners on all shapes and devices")
                            ->type_name(value_words::kFolder);
  app.add_option("--loss-percent", options.bundle.loss_percent,
                 "loss of a shape's best time that is allowed for fewer kernels in the bundle")
      ->type_name("PERCENT")
      ->capture_default_str()
      ->transform(real_number(0.0, 1000.0))
      ->needs(bundle);
  app.add_flag("--cpp", options.bundle.cpp,
               "write a C++ function for the bundle and a CMake package beside it")
      ->needs(bundle);
  app.set_version_flag("--version", "evo-export " EVO_VERSION);
  app.footer(exit_codes({{0, "written"}, {1, "nothing is green"}, {2, "bad usage or database"}}));
}

/// Options that only a bundle takes more than once.
void require_single(Options& options) {
  if (options.dbs.size() > 1 || options.runs.size() > 1) {
    throw InputError(std::string(options.dbs.size() > 1 ? "--db" : "--run") +
                     ": more than one is allowed with --bundle only");
  }
  if (!options.runs.empty()) options.filter.run = options.runs.front();
}

ExitCode export_bundle(const Options& options) {
  BundleOptions bundle = options.bundle;
  bundle.dbs = options.dbs;
  bundle.runs = options.runs;
  bundle.device = options.filter.device;
  bundle.shape = options.filter.shape;
  bundle.name = options.name;
  return export_bundle(bundle);
}

/// Both may be named, as two files.
void require_two_files(const std::string& t4, const std::string& cache) {
  const auto place = [](const std::string& file) {
    return fs::weakly_canonical(fs::absolute(file));
  };
  if (t4.empty() || place(t4) != place(cache)) return;
  throw InputError("--kernel-tuner-cache " + cache + ": is the file of --t4; allowed is another");
}

/// All results of the newest run that fits.
ExitCode export_results(const Store& store, const Options& options) {
  const std::vector<StoredRun> runs = select_runs(store, options.filter);
  if (runs.empty()) {
    std::cerr << "evo-export: " << options.db() << ": no run fits\n";
    return ExitCode::kNothingGreen;
  }
  const StoredRun& run = runs.back();
  const auto write_one = [&](const std::string& file, const RunResults& results) {
    write_results(file, results, "evo-export");
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
      "evo-export: writes winners and results as files that others can use.\n"
      "The winner as NAME.cubin, NAME.json (how to launch it, what was checked and timed), "
      "NAME.ptx and NAME.cu (one self-contained source); or the winners on all shapes and devices "
      "as a bundle; or all results of a run for other tuners. Prints the files' names.");
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv, database_values())) return *done;
  if (!options.bundle.folder.empty()) return export_bundle(options);
  require_single(options);
  const bool wants_results = !options.t4.empty() || !options.kernel_tuner_cache.empty();
  if (options.out.empty() && !wants_results) {
    throw InputError(
        "--out: the folder to write the kernel to is required, or --bundle, or --t4 or "
        "--kernel-tuner-cache for the results of a run");
  }
  if (!options.kernel_tuner_cache.empty()) {
    require_two_files(options.t4, options.kernel_tuner_cache);
  }
  const Store store = Store::open_read_only(options.db());
  if (wants_results) {
    const ExitCode code = export_results(store, options);
    if (options.out.empty() || code != ExitCode::kGreen) return code;
  }
  const std::optional<CandidateId> candidate = choose(store, options);
  if (!candidate) {
    std::cerr << "evo-export: " << options.db() << ": nothing is green in any run that fits\n";
    return ExitCode::kNothingGreen;
  }
  const StoredRun of = store.run(store.evaluation(*candidate).run);
  const KernelExport kernel = export_kernel(store, *candidate, options.name);
  if (of.info.device.time_kind == TimeKind::kPredicted) {
    std::cerr << "evo-export: the time in " << kernel.name
              << ".json is PREDICTED by a virtual GPU; nothing was measured\n";
  }
  const StoredEvaluation stored = store.evaluation(*candidate);
  if (may_be_screened_only(store, of, stored.record.duplicate_of.value_or(*candidate))) {
    std::cerr << "evo-export: candidate " << *candidate
              << " was in no elite: it may have been screened only; evo-judge checks it fully\n";
  }
  if (!options.name.empty() && kernel.name != options.name) {
    std::cerr << "evo-export: --name: files are named " << kernel.name
              << ": a name holds letters, digits, '-', '_' and '.', and stays in its folder\n";
  }
  write(kernel, options.out);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-export", [&] { return evo::run(argc, argv); });
}
