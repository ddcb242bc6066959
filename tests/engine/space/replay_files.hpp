#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace evo {

/// The sorted paths of the recorded spaces (*.json.gz) in the folder EVO_REPLAY_DIR, or else in the
/// folder shared/replay beside the project; empty if there are none. The recordings are too large
/// to be part of the project.
inline std::vector<std::filesystem::path> replay_files() {
  const char* set = std::getenv("EVO_REPLAY_DIR");
  const std::filesystem::path folder =
      set != nullptr ? std::filesystem::path(set)
                     : std::filesystem::path(EVO_SOURCE_DIR) / ".." / "shared" / "replay";
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (entry.path().string().ends_with(".json.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace evo
