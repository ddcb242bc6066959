#include "tools/bundle/export_bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "db/queries.hpp"
#include "engine/core/json_reader.hpp"
#include "tools/bundle/cpp.hpp"
#include "tools/bundle/index.hpp"
#include "tools/bundle/kernels.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/export/export_run.hpp"
#include "tools/loader/evo_tune_index.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

std::vector<StoredRun> runs_of(const Store& store, const ExportSource& source) {
  RunFilter filter{.device = source.device, .shape = source.shape};
  if (source.runs.empty()) return select_runs(store, filter);
  std::vector<StoredRun> runs;
  for (const RunId run : source.runs) {
    filter.run = run;
    for (StoredRun& found : select_runs(store, filter)) runs.push_back(std::move(found));
  }
  return runs;
}

/// Says why `runs`, all runs of the sources, give no bundle.
std::string why_no_target(const std::vector<BundleSource>& sources,
                          const std::vector<StoredRun>& runs) {
  const bool has_unchecked = std::ranges::any_of(sources, [](const BundleSource& source) {
    return std::ranges::any_of(source.runs, [&](const StoredRun& run) {
      return source.store->generations(run.id).empty() &&
             !elite_of_run(*source.store, run.id).empty();
    });
  });
  if (!has_unchecked) return why_no_elite(runs);
  return "no green kernel has passed a full check yet, because no generation was finished; "
         "continue the run by evo-tune --resume, or name a kernel by --candidate (evo-elite lists "
         "them)";
}

/// Calls `action(file name, hash)` for each cubin and PTX file that an index names.
template <typename Action>
void for_each_code(OrderedJson& index, const Action& action) {
  for (OrderedJson& kernel : index.at("kernels")) {
    for (const char* key : {"cubin", "ptx"}) {
      action(kernel.at(key), kernel.at("sha256").at(key).template get<std::string>());
    }
  }
}

/// Whether a file has the content with this hash.
bool has(const fs::path& file, const std::string& hash) {
  return is_file(file) && evo_tune::detail::sha256(read_text_file(file)) == hash;
}

/// Renames the new code files for which the folder has a file of the same name and other content.
/// The old file must stay, because the old index is valid until the new index replaces it.
void take_free_names(Bundle& bundle, const fs::path& folder) {
  for_each_code(bundle.index, [&](OrderedJson& name, const std::string& hash) {
    const fs::path file = name.get<std::string>();
    std::error_code unknown;
    if (!fs::exists(fs::symlink_status(folder / file, unknown)) || has(folder / file, hash)) return;
    constexpr std::size_t kDigits = 16;
    const std::string free =
        file.stem().string() + "_" + hash.substr(0, kDigits) + file.extension().string();
    const auto named =
        std::ranges::find(bundle.files, file.string(), &std::pair<std::string, std::string>::first);
    named->first = free;
    name = free;
  });
}

/// The code files that an index names, with their hashes; empty if the index is missing or cannot
/// be read, for example because another version wrote it.
std::map<std::string, std::string> code_of(const fs::path& index_file) {
  std::map<std::string, std::string> files;
  try {
    OrderedJson index = OrderedJson::parse(read_text_file(index_file));
    for_each_code(index, [&](const OrderedJson& name, const std::string& hash) {
      const fs::path file = name.get<std::string>();
      if (file == file.filename()) files[file.string()] = hash;
    });
  } catch (const std::exception&) {
    return {};
  }
  return files;
}

/// Strings by which evo-export recognises its own files, which it may replace: the index, the C++
/// function, the CMake package (also of older versions) and the loader's headers.
const OutputOwner kWriter{
    .writer = "evo-export",
    .marks = {"evo-tune bundle", kWrittenByExport, "_BUNDLE_DIR=\\\"${CMAKE_CURRENT_LIST_DIR}",
              "#ifndef EVO_TUNE_"}};

/// Writes the index last, so that the folder is a complete bundle at any time, either the old or
/// the new bundle. Then removes the code files that only the old index names.
void write(Bundle& bundle, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError("--bundle " + folder.string() + ": " + error.message());
  const fs::path index_file = folder / kBundleIndexFile;
  require_replaceable(index_file, kWriter);
  const std::map<std::string, std::string> old = code_of(index_file);
  take_free_names(bundle, folder);
  std::vector<OutputFile> outputs;
  for (const auto& [name, content] : bundle.files) outputs.push_back({folder / name, content});
  outputs.push_back({index_file, index_text(bundle.index)});
  write_outputs(outputs, kWriter);
  for (const OutputFile& output : outputs) std::cout << output.file.string() << '\n';
  for (const auto& before : old) {
    const bool is_used = std::ranges::any_of(
        bundle.files, [&](const auto& file) { return file.first == before.first; });
    const fs::path file = folder / before.first;
    if (!is_used && has(file, before.second)) fs::remove(file, error);
  }
}

}  // namespace

ExitCode export_bundle(const ExportSource& source, const BundleOptions& options) {
  const bool is_one = source.candidate > 0;
  if (source.dbs.size() > 1 && (is_one || !source.runs.empty())) {
    throw InputError(std::string(is_one ? "--candidate" : "--run") +
                     ": allowed with one --db only, "
                     "because databases number their runs and candidates separately");
  }
  std::vector<Store> stores;
  stores.reserve(source.dbs.size());
  std::vector<BundleSource> sources;
  for (const std::string& db : source.dbs) stores.push_back(Store::open_read_only(db));
  for (const Store& store : stores) sources.push_back({&store, runs_of(store, source)});
  const std::vector<BundleTarget> targets =
      is_one ? std::vector{target_of(stores.front(), source.candidate)} : bundle_targets(sources);
  if (is_one) note_only_quick_check(stores.front(), source.candidate);
  if (targets.empty()) {
    std::vector<StoredRun> runs;
    for (const BundleSource& one : sources)
      runs.insert(runs.end(), one.runs.begin(), one.runs.end());
    std::cerr << "evo-export: " << why_no_target(sources, runs) << '\n';
    return ExitCode::kNothingGreen;
  }
  constexpr double kPercent = 100;
  Bundle bundle = make_bundle(sources, targets, options.loss_percent / kPercent, source.name);
  if (options.cpp) {
    for (auto& file : cpp_files(bundle)) bundle.files.push_back(std::move(file));
  }
  for (const std::string& note : bundle.notes) std::cerr << "evo-export: " << note << '\n';
  write(bundle, options.folder);
  return ExitCode::kGreen;
}

}  // namespace evo
