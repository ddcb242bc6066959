#pragma once

#include <filesystem>

namespace evo {

/// Where the shipped kernel_templates/ and search_spaces/ are: the working directory when it has
/// them, else the folder that the environment variable EVO_TUNE_DATA names, else ../share/evo-tune
/// beside the folder of the running program, wherever that was installed. Throws InputError when
/// there are none.
[[nodiscard]] std::filesystem::path data_folder();

/// A space as the command line names it: a file, or one of the shipped ones by its file's name with
/// or without "search_spaces/" and ".json". What is neither is returned as it is.
[[nodiscard]] std::filesystem::path find_space(const std::filesystem::path& space);

}  // namespace evo
