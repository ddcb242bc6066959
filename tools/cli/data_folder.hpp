#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

/// The folder with kernel_templates/ and search_spaces/: the working directory if it has
/// search_spaces/default.json, else the folder in the environment variable EVO_TUNE_DATA if it is
/// set, else ../share/evo-tune relative to the program's folder. Throws InputError if this folder
/// lacks search_spaces/default.json.
[[nodiscard]] std::filesystem::path data_folder();

/// The names of the shipped spaces. Throws as data_folder() does.
[[nodiscard]] std::vector<std::string> shipped_spaces();

/// The file of the default space that search_spaces/default.json names for an architecture
/// ("sm_90"), or the file under "otherwise" for an unknown or empty architecture. Throws InputError
/// if default.json cannot be read.
[[nodiscard]] std::filesystem::path default_space(const std::string& arch);

/// A space named on the command line: a file, or, by its file name with or without "search_spaces/"
/// and ".json", a shipped space or else a space of the working folder. If none exists, throws an
/// InputError that suggests a similar name. Returns an absolute path unchanged, even if there is no
/// such file.
[[nodiscard]] std::filesystem::path find_space(const std::filesystem::path& space);

}  // namespace evo
