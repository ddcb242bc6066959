#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// All that a run is, in order and in words, without what may differ between two runs that went the
/// same way: times of day, durations, the numbers of rows, and the figures in a rejection's reason,
/// which come from inputs that are drawn anew by every process.
[[nodiscard]] std::vector<std::string> run_content(const Store& store, RunId run);

/// The first line in which they differ, of both; empty when they are equal.
[[nodiscard]] std::string first_difference(const std::vector<std::string>& a,
                                           const std::vector<std::string>& b);

/// What SQLite finds wrong with the file and its references; empty when nothing is.
[[nodiscard]] std::string integrity_damage(const Store& store);

}  // namespace evo
