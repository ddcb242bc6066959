#pragma once

#include <filesystem>
#include <string>

namespace evo {

/// For the message about a file that is not there: "; did you mean 'recorded.json'?", else
/// "; there is no folder 'results'", else "; there are: a.json, b.json" with the first files of the
/// same ending, else an empty text. Empty as well for a file that is there.
[[nodiscard]] std::string missing_file_hint(const std::filesystem::path& file);

}  // namespace evo
