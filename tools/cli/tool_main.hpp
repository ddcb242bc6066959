#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "engine/core/error.hpp"
#include "tools/cli/completion.hpp"

namespace evo {

/// Parses the command line; the exit code to end with when there is nothing more to do, as after
/// --help or kCompleteFlag. When an option that takes one value is given twice, the last one holds.
/// `lists`: what completion offers for the values of options.
[[nodiscard]] std::optional<ExitCode> parse_command_line(CLI::App& app, int argc, char** argv,
                                                         const ValueLists& lists = {});

/// The body of every main():
///   1. standard input, output and error are open, so that no database or socket ever gets their
///      numbers; a reader that went away, or a file that may not grow, is an error of that write
///      and not the end of the process;
///   2. errors become one message on standard error and their exit code;
///   3. what was printed has arrived, or the exit code is not 0.
[[nodiscard]] int tool_main(const std::string& name, const std::function<ExitCode()>& body);

}  // namespace evo
