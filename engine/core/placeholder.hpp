#pragma once

#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// The prefix of a string that a tool writes in place of a value that it could not determine. The
/// text after the prefix tells the user how to fill in the value.
inline constexpr std::string_view kPlaceholder = "TODO";

/// A value that the user must still fill in.
struct Placeholder {
  std::string path;  ///< for example "arguments[1].extent"
  std::string text;  ///< for example "TODO: number of elements of a"
};

/// All placeholders, in the order in which `json` contains them.
[[nodiscard]] std::vector<Placeholder> placeholders_in(const Json& json);

/// Throws InputError if there are placeholders, with a line "file: path: text" for each. Call
/// this function before any other check, so that the user sees this message first.
void require_finished(const Json& json, const std::string& file);

}  // namespace evo
