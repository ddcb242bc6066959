#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace evo {

/// The names of values in help texts; completion uses them to find the possible values.
namespace value_words {
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kDatabase = "DATABASE";
inline constexpr const char* kRecording = "RECORDING";  ///< a file of results
inline constexpr const char* kSpace = "SPACE";
inline constexpr const char* kDevice = "DEVICE";
inline constexpr const char* kShape = "SHAPE";
inline constexpr const char* kShapes = "SHAPES";  ///< several shapes, separated by commas
inline constexpr const char* kStrategy = "STRATEGY";
inline constexpr const char* kObjective = "OBJECTIVE";
inline constexpr const char* kMilestone = "MILESTONE";
inline constexpr const char* kSetting = "MACRO=VALUE";
}  // namespace value_words

/// Adds an option whose value has the name `word` in help texts.
CLI::Option* add_option(CLI::App& app, const char* name, auto& target, const char* word,
                        const std::string& description) {
  return app.add_option(name, target, description)->type_name(word);
}

/// The values given so far on the command line, by the names of values in help texts, such as
/// SPACE.
using GivenValues = std::map<std::string, std::string>;
using ValueList = std::function<std::vector<std::string>(const GivenValues&)>;
/// For each name of a value, such as SHAPE, the function that lists the possible values.
using ValueLists = std::map<std::string, ValueList>;

/// The flag that makes any program except evo-worker print the completions of a command line. The
/// completion scripts for bash and zsh use --complete.
inline constexpr const char* kCompleteFlag = "--complete";

/// The completions of an incomplete command line. `words`: the words after the program's name; the
/// last word is being typed and may be empty. Returns lines. The first line is "none", "folders",
/// "files" or, for example, "files *.db", and describes the matching files. The other lines are
/// possible words: values, commands, and option names that begin with the last word. Lists that are
/// unavailable, for example because the space file is missing, are empty.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app,
                                                   const std::vector<std::string>& words,
                                                   const ValueLists& lists);

}  // namespace evo
