#pragma once

#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// A string that begins with this stands where a tool could not know a value, and says what is to
/// be written there.
inline constexpr std::string_view kUnfinished = "TODO";

/// A value that is still to be written.
struct Unfinished {
  std::string path;  ///< "arguments[1].extent"
  std::string text;  ///< "TODO: number of elements of a"
};

/// All of them, in the order of `json`.
[[nodiscard]] std::vector<Unfinished> unfinished_in(const Json& json);

/// Throws InputError when there are any: "file: path: text" for each, a line each. To be asked
/// before any other check, so that the message is about what is to be written.
void require_finished(const Json& json, const std::string& file);

}  // namespace evo
