#include "tools/evo_export_bundle.hpp"

#include <filesystem>
#include <iostream>

#include "engine/core/json_reader.hpp"
#include "tools/bundle_cpp.hpp"
#include "tools/bundle_index.hpp"
#include "tools/bundle_kernels.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::vector<StoredRun> runs_of(const Store& store, const BundleOptions& options) {
  RunFilter filter{.device = options.device, .shape = options.shape};
  if (options.runs.empty()) return select_runs(store, filter);
  std::vector<StoredRun> runs;
  for (const RunId run : options.runs) {
    filter.run = run;
    for (StoredRun& found : select_runs(store, filter)) runs.push_back(std::move(found));
  }
  return runs;
}

void write(const Bundle& bundle, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError("--bundle " + folder.string() + ": " + error.message());
  for (const auto& [name, content] : bundle.files) {
    write_file(folder / name, content);
    std::cout << (folder / name).string() << '\n';
  }
  // Last: who finds an index finds what it names.
  write_file(folder / kBundleIndexFile, bundle.index.dump(1) + "\n");
  std::cout << (folder / kBundleIndexFile).string() << '\n';
}

}  // namespace

ExitCode export_bundle(const BundleOptions& options) {
  if (options.dbs.size() > 1 && !options.runs.empty()) {
    throw InputError("--run: with several --db a number means several runs; allowed with one");
  }
  std::vector<Store> stores;
  stores.reserve(options.dbs.size());
  std::vector<BundleSource> sources;
  for (const std::string& db : options.dbs) stores.push_back(Store::open_read_only(db));
  for (const Store& store : stores) sources.push_back({&store, runs_of(store, options)});
  const std::vector<BundleTarget> targets = bundle_targets(sources);
  if (targets.empty()) {
    std::cerr << "evo-export: nothing is green in any run that fits\n";
    return ExitCode::kNothingGreen;
  }
  constexpr double kPercent = 100;
  Bundle bundle = make_bundle(sources, targets, options.loss_percent / kPercent, options.name);
  if (options.cpp) {
    for (auto& file : cpp_files(bundle)) bundle.files.push_back(std::move(file));
  }
  for (const std::string& note : bundle.notes) std::cerr << "evo-export: " << note << '\n';
  write(bundle, options.folder);
  return ExitCode::kGreen;
}

}  // namespace evo
