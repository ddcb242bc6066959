#include "engine/core/missing_file.hpp"

#include <algorithm>
#include <vector>

#include "engine/core/suggestion.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLooked = 10'000;  ///< limit of the names read from a folder
constexpr std::size_t kMostNamed = 5;

/// The names in a folder, sorted. Reads at most kMostLooked names.
std::vector<std::string> names_in_folder(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (names.size() == kMostLooked) break;
    names.push_back(at->path().filename());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string missing_file_hint(const fs::path& file) {
  std::error_code error;
  if (file.empty() || fs::exists(file, error)) return {};
  const fs::path folder = file.parent_path();
  const fs::path place = folder.empty() ? fs::path(".") : folder;
  if (!fs::is_directory(place, error)) return "; there is no folder '" + place.string() + "'";
  const std::vector<std::string> names = names_in_folder(place);
  const std::string nearest = nearest_name(file.filename().string(), names);
  if (!nearest.empty()) return "; did you mean '" + (folder / nearest).string() + "'?";
  std::string list;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (fs::path(name).extension() != file.extension() || name.starts_with('.')) continue;
    if (named++ == kMostNamed) {
      list += ", …";
      break;
    }
    list += (list.empty() ? "" : ", ") + name;
  }
  return list.empty() ? std::string() : "; there are: " + list;
}

}  // namespace evo
