#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The name in `known` that `given` probably means. The result is the name with the smallest edit
/// distance (insertions, deletions, replacements, swaps of neighbours; case does not count), if the
/// distance is at most a third of the letters of `given`, or at most 1 for short names. If no name
/// is that similar, the result is the only name that begins with `given`; empty if several names or
/// none do.
[[nodiscard]] std::string nearest_name(std::string_view given,
                                       const std::vector<std::string>& known);

/// Returns text such as "; did you mean --generations?", or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       const std::vector<std::string>& known);

/// Returns text such as "unknown shape 'smal'; did you mean 'small'? Allowed: small, mission".
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view given,
                                       const std::vector<std::string>& known);

}  // namespace evo
