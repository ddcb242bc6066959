#pragma once

#include <filesystem>
#include <string>

namespace evo {

/// Text to append to a message about a missing file: the nearest name ("; did you mean
/// 'recorded.json'?"), a missing folder ("; there is no folder 'results'"), or the first files with
/// the same extension ("; there are: a.json, b.json"). Returns an empty text if there is no such
/// file or folder to name, or if the file exists.
[[nodiscard]] std::string missing_file_hint(const std::filesystem::path& file);

}  // namespace evo
