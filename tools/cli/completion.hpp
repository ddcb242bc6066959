#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace evo {

/// By which help names the values of options, and completion knows what may stand there.
namespace value_words {
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kDatabase = "DATABASE";
inline constexpr const char* kRecording = "RECORDING";  ///< a file of results
inline constexpr const char* kSpace = "SPACE";
inline constexpr const char* kDevice = "DEVICE";
inline constexpr const char* kShape = "SHAPE";
inline constexpr const char* kShapes = "SHAPES";  ///< several, with commas
inline constexpr const char* kStrategy = "STRATEGY";
inline constexpr const char* kObjective = "OBJECTIVE";
inline constexpr const char* kMilestone = "MILESTONE";
inline constexpr const char* kSetting = "MACRO=VALUE";
}  // namespace value_words

/// What the command line already says: values by the words of their options.
using GivenValues = std::map<std::string, std::string>;
using ValueList = std::function<std::vector<std::string>(const GivenValues&)>;
/// What the values of a word are.
using ValueLists = std::map<std::string, ValueList>;

/// The flag that makes any program answer what may stand at the end of a command line; the scripts
/// of bash and zsh call it.
inline constexpr const char* kCompleteFlag = "--complete";

/// `words`: what stands behind the program's name; the last one, maybe empty, is being typed.
/// Returns lines: first "none", "folders", "files" or "files *.json *.gz", which says what of the
/// file system fits, then what else may stand there: values, commands, names of options that begin
/// as the last word does. Lists that cannot be had, as of a space that is not there, are empty.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app,
                                                   const std::vector<std::string>& words,
                                                   const ValueLists& lists);

}  // namespace evo
