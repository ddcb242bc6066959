#pragma once

#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// The prefix of a string that a tool writes in place of a value it could not determine. The rest
/// of the string tells the user which value to fill in.
inline constexpr std::string_view kUnfinished = "TODO";

/// A value that the user still has to fill in.
struct Unfinished {
  std::string path;  ///< "arguments[1].extent"
  std::string text;  ///< "TODO: number of elements of a"
};

/// All unfinished values, in the order of `json`.
[[nodiscard]] std::vector<Unfinished> unfinished_in(const Json& json);

/// Throws InputError if there are unfinished values: one line "file: path: text" for each. Call it
/// before any other check, so that the user sees this message first.
void require_finished(const Json& json, const std::string& file);

}  // namespace evo
