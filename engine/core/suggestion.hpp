#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The name among `known` that was probably meant by `given`: the nearest by edits (insertions,
/// deletions, replacements, swaps of neighbours; upper and lower case are alike), where these are
/// at most a third of the letters, else the only one that begins with it. Empty for none.
[[nodiscard]] std::string nearest_name(std::string_view given,
                                       const std::vector<std::string>& known);

/// "; did you mean --generations?" or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       const std::vector<std::string>& known);

/// "unknown shape 'nop'; did you mean 'nope'? Allowed: small, mission".
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view given,
                                       const std::vector<std::string>& known);

}  // namespace evo
