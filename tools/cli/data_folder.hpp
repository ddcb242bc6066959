#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

/// Where the shipped kernel_templates/ and search_spaces/ are: the working directory when it has
/// them, else the folder that the environment variable EVO_TUNE_DATA names, else ../share/evo-tune
/// beside the folder of the running program, wherever that was installed. Throws InputError when
/// there are none.
[[nodiscard]] std::filesystem::path data_folder();

/// The names of the spaces in there. Throws as data_folder() does.
[[nodiscard]] std::vector<std::string> shipped_spaces();

/// The file of the space for a device's architecture ("sm_89"); of one that is unknown or empty,
/// the one for all others. Throws InputError where there is none.
[[nodiscard]] std::filesystem::path default_space(const std::string& arch);

/// A space as the command line names it: a file, or one of the shipped ones by its file's name with
/// or without "search_spaces/" and ".json". Throws InputError for what is neither, with what may be
/// meant.
[[nodiscard]] std::filesystem::path find_space(const std::filesystem::path& space);

}  // namespace evo
