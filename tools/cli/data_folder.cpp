#include "tools/cli/data_folder.hpp"

#include <algorithm>
#include <optional>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/missing_file.hpp"
#include "engine/core/suggestion.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

bool has_spaces(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "search_spaces" / "default.json", ignored);
}

fs::path installed_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / "share" / "evo-tune").lexically_normal();
}

std::optional<fs::path> find_data_folder() {
  if (has_spaces(".")) return ".";
  if (const auto named = environment_variable("EVO_TUNE_DATA")) {
    if (has_spaces(*named)) return *named;
    throw InputError("EVO_TUNE_DATA=" + *named +
                     ": there is no search_spaces/default.json; "
                     "allowed: a folder that contains search_spaces/ and kernel_templates/");
  }
  if (has_spaces(installed_folder())) return installed_folder();
  return std::nullopt;
}

std::vector<std::string> spaces_in(const fs::path& data) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(data / "search_spaces")) {
    const fs::path& file = entry.path();
    if (file.extension() == ".json" && file.stem() != "default") names.push_back(file.stem());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

fs::path data_folder() {
  if (const std::optional<fs::path> found = find_data_folder()) return *found;
  throw InputError(
      "there is no search_spaces/default.json here or in " + installed_folder().string() +
      "; name a space by --space, or set EVO_TUNE_DATA to the folder that contains search_spaces/");
}

std::vector<std::string> shipped_spaces() { return spaces_in(data_folder()); }

fs::path default_space(const std::string& arch) {
  const fs::path folder = data_folder() / "search_spaces";
  const fs::path file = folder / "default.json";
  const Json json = read_json_file(file);
  const JsonReader reader(json, file.string());
  (void)reader.one_of("format", {"evo-tune defaults 1"});
  return folder / reader.string_or(arch, reader.string("otherwise"));
}

fs::path find_space(const fs::path& space) {
  std::error_code ignored;
  if (fs::exists(space, ignored) || space.is_absolute()) return space;
  const auto find_in = [&](const fs::path& folder) -> std::optional<fs::path> {
    for (const fs::path& name : {space, fs::path("search_spaces") / space}) {
      for (const char* ending : {"", ".json"}) {
        fs::path file = folder / (name.string() + ending);
        if (fs::is_regular_file(file, ignored)) return file;
      }
    }
    return std::nullopt;
  };
  const std::optional<fs::path> data = find_data_folder();
  const std::string missing =
      "--space: " + space.string() + ": no such file" + missing_file_hint(space);
  if (data) {
    if (auto shipped_file = find_in(*data)) return *shipped_file;
  }
  if (auto own_file = find_in({})) return *own_file;
  if (!data) throw InputError(missing);
  const std::vector<std::string> shipped = spaces_in(*data);
  if (space.has_parent_path() || space.has_extension()) {  // looks like a file name
    const std::string nearest = nearest_name(space.stem().string(), shipped);
    throw InputError(missing + "; name a shipped space without folder and ending, such as " +
                     (nearest.empty() ? shipped.front() : nearest));
  }
  throw InputError("--space: " + unknown_name("space", space.string(), shipped));
}

}  // namespace evo
