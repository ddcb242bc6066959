#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

/// The columns that help is written for.
inline constexpr std::size_t kHelpColumns = 80;

/// The words of a text in lines of at most `columns`; all but the first are indented by `indent`.
/// Line breaks of the text stay. A word that is longer than a line has a line of its own.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// The word by which help names an option's value: "N", "FILE"; empty for a flag.
[[nodiscard]] std::string value_word(const CLI::Option& option);

/// The end of a program's help: what its exit codes mean.
[[nodiscard]] std::string exit_codes(const std::vector<std::pair<int, std::string>>& meanings);

/// Help of `app` and its commands in 80 columns. An option's line has its names and the word of its
/// value; then, wrapped, what it is, and in brackets the numbers that are allowed, the default and
/// the options that it excludes or needs.
void use_help_format(CLI::App& app);

}  // namespace evo
