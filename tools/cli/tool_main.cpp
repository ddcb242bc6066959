#include "tools/cli/tool_main.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "engine/core/printable.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/core/utf8.hpp"
#include "tools/cli/help_format.hpp"

namespace evo {
namespace {

/// Opens /dev/null for each standard stream that is closed, in the order of their descriptors,
/// because open() takes the lowest free descriptor. Standard output is opened for reading only, so
/// that writes to it still fail.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    const int flags = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) != stream) _exit(static_cast<int>(ExitCode::kMissing));
  }
}

/// A write to a pipe without a reader, or beyond the file size limit, becomes an error instead of
/// killing the process. Uses empty signal handlers instead of SIG_IGN, because worker processes
/// would inherit SIG_IGN.
void let_writes_fail() {
  struct sigaction nothing = {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaction(signal, &nothing, nullptr);
}

ExitCode guarded(const std::string& name, const std::function<ExitCode()>& body) {
  // Messages may quote text of files, so they are made printable and shortened.
  constexpr std::size_t kLongest = std::size_t{16} << 10;
  const auto say = [&](const std::string& what) {
    std::cerr << name << ": " << printable(shortened(what, kLongest)) << '\n';
  };
  try {
    return body();
  } catch (const Error& error) {
    say(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    say("out of memory");
    return ExitCode::kMissing;
  } catch (const std::filesystem::filesystem_error& error) {
    say(error.what());
    return ExitCode::kBadInput;
  } catch (const std::exception& error) {
    say(std::string("unexpected error: ") + error.what());
    return ExitCode::kMissing;
  }
}

/// Whether all standard output was written. Closes a copy of the output's descriptor, because some
/// file systems report a full disk only when a file is closed.
bool output_arrived() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (!flushed) return false;
  const int copy = dup(STDOUT_FILENO);
  return copy >= 0 && close(copy) == 0;
}

/// Returns an option that was given an empty value, for example by an unset shell variable, or
/// null. Skips options whose value may be left out.
const CLI::Option* given_nothing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_min() == 0) continue;
    if (std::ranges::count(option->results(), std::string()) > 0) return option;
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (const CLI::Option* found = given_nothing(*command)) return found;
  }
  return nullptr;
}

void collect_names(const CLI::App& app, std::vector<std::string>& options,
                   std::vector<std::string>& commands) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
    if (command->parsed()) collect_names(*command, options, commands);
  }
}

/// The error message for arguments that no option accepts.
std::string unexpected_text(const CLI::App& app) {
  std::vector<std::string> options;
  std::vector<std::string> commands;
  collect_names(app, options, commands);
  for (const std::string& argument : app.remaining(true)) {
    if (!argument.starts_with('-')) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (std::ranges::count(options, name) > 0) return "this command does not take " + name;
    return "unknown option " + name + did_you_mean(name, options);
  }
  const std::vector<std::string> remaining = app.remaining(true);
  const std::string first = remaining.empty() ? std::string() : remaining.front();
  // The first word that CLI11 could not parse is probably a misspelt command.
  if (app.get_require_subcommand_min() > 0 || commands.size() > 1 ||
      !nearest_name(first, commands).empty()) {
    return unknown_name("command", first, commands);
  }
  return "unexpected argument '" + first + "': options begin with --";
}

void collect_missing(const CLI::App& app, std::vector<const CLI::Option*>& missing) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required() && option->count() == 0) missing.push_back(option);
  }
  for (const CLI::App* command : app.get_subcommands()) collect_missing(*command, missing);
}

/// The message for a parse error: CLI11's message, or a better one for a missing argument or
/// command.
std::string refusal_text(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  std::vector<const CLI::Option*> missing;
  collect_missing(app, missing);
  if (!missing.empty()) {
    return missing.front()->get_name() + " is required: " + missing.front()->get_description();
  }
  std::string commands;
  for (const CLI::App* command : app.get_subcommands({}))
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  return commands.empty() ? std::string(error.what())
                          : "a command is required; allowed: " + commands;
}

}  // namespace

std::optional<ExitCode> parse_command_line(CLI::App& app, int argc, char** argv,
                                           const ValueLists& lists) {
  use_help_format(app);
  if (argc > 1 && std::string_view(argv[1]) == kCompleteFlag) {
    for (const std::string& line : completions(app, {argv + 2, argv + argc}, lists))
      std::cout << line << '\n';
    return ExitCode::kGreen;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!find_invalid_utf8(argument)) continue;
    throw InputError("argument '" + argument + "': allowed: UTF-8, also in names of files");
  }
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 1) option->take_last();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // If an option is misspelt, CLI11 may report that a required option is missing, so the
    // unknown argument is reported instead.
    if (error.get_exit_code() != 0 && !app.remaining(true).empty()) {
      throw InputError(unexpected_text(app) + "\nRun with --help for all options.");
    }
    if (error.get_exit_code() == 0) {  // help, or the version
      app.exit(error);
      return ExitCode::kGreen;
    }
    throw InputError(refusal_text(app, error) + "\nRun with --help for all options.");
  }
  if (const CLI::Option* option = given_nothing(app)) {
    throw InputError(option->get_name() + ": '': allowed: a text that is not empty");
  }
  return std::nullopt;
}

int tool_main(const std::string& name, const std::function<ExitCode()>& body) {
  open_standard_streams();
  let_writes_fail();
  const ExitCode code = guarded(name, body);
  if (output_arrived()) return static_cast<int>(code);
  const std::string why = errno == 0 ? "could not be written" : std::strerror(errno);
  std::cerr << name << ": standard output: " << why << "; the output is incomplete\n";
  return static_cast<int>(code == ExitCode::kGreen ? ExitCode::kBadInput : code);
}

int tool_main(const std::string& name, int argc, char** argv, CLI::App& app,
              const std::function<ExitCode()>& body, const ValueLists& lists) {
  app.set_version_flag("--version", name + " " EVO_VERSION);
  return tool_main(name, [&] {
    const std::optional<ExitCode> done = parse_command_line(app, argc, argv, lists);
    return done ? *done : body();
  });
}

}  // namespace evo
