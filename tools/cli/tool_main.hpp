#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "engine/core/error.hpp"
#include "tools/cli/completion.hpp"

namespace evo {

/// Parses the command line. Returns an exit code if the program has nothing more to do, for example
/// after --help. Throws InputError for a bad command line. If an option with one value is given
/// twice, the last value counts. `lists`: completions for the values of options.
[[nodiscard]] std::optional<ExitCode> parse_command_line(CLI::App& app, int argc, char** argv,
                                                         const ValueLists& lists = {});

/// The body of main() of every program except evo-worker:
///   1. open standard input, output and error, so that no other file gets descriptor 0, 1 or 2;
///      turn a closed pipe or a file size limit into an error of the write instead of a signal;
///   2. turn errors into one message on standard error and an exit code;
///   3. return an exit code other than 0 if output was lost.
[[nodiscard]] int tool_main(const std::string& name, const std::function<ExitCode()>& body);

/// The same for a program with options: adds --version to `app`, parses the command line and,
/// unless that was all, calls `body`.
[[nodiscard]] int tool_main(const std::string& name, int argc, char** argv, CLI::App& app,
                            const std::function<ExitCode()>& body, const ValueLists& lists = {});

}  // namespace evo
