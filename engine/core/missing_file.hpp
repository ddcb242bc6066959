#pragma once

#include <filesystem>
#include <string>

namespace evo {

/// The end of a message about a missing file: "; did you mean 'recorded.json'?", else "; there is
/// no folder 'results'", else "; there are: a.json, b.json" with the first files that have the same
/// extension, else an empty text. The text is also empty if the file exists.
[[nodiscard]] std::string missing_file_hint(const std::filesystem::path& file);

}  // namespace evo
