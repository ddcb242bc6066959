#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "engine/core/error.hpp"

namespace evo {

/// Parses the command line; the exit code to end with when there is nothing more to do.
[[nodiscard]] inline std::optional<ExitCode> parse_command_line(CLI::App& app, int argc,
                                                                char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::kGreen : ExitCode::kBadInput;
  }
  return std::nullopt;
}

/// The body of every main(): errors become one message on standard error and their exit code.
[[nodiscard]] inline int tool_main(const std::string& name, const std::function<ExitCode()>& body) {
  try {
    return static_cast<int>(body());
  } catch (const Error& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::cerr << name << ": unexpected: " << error.what() << '\n';
    return static_cast<int>(ExitCode::kMissing);
  }
}

}  // namespace evo
