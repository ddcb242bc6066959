#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

/// The width of help texts.
inline constexpr std::size_t kHelpColumns = 80;

/// Wraps the words of a text into lines of at most `columns` columns; continuation lines are
/// indented by `indent` columns. Line breaks of the text are kept. A word that is longer than a
/// line gets its own line.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// Indents all lines of a text except the first line.
[[nodiscard]] std::string hanging(const std::string& text, std::size_t columns);

/// The name of an option's value in help texts: "N", "FILE"; empty for a flag.
[[nodiscard]] std::string value_word(const CLI::Option& option);

/// The end of a program's help: the meaning of its exit codes.
[[nodiscard]] std::string exit_codes(const std::vector<std::pair<int, std::string>>& meanings);

/// Gives `app` and its commands a help text in 80 columns. An option's entry has its names and its
/// value's name, followed by the wrapped description, with the allowed numbers, the default, and
/// excluded or required options in brackets.
void use_help_format(CLI::App& app);

}  // namespace evo
