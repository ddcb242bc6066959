#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// The content of a run as lines of text, in order. Leaves out data that may differ between two
/// runs with the same decisions, for example dates, durations, row ids, and the numbers in the
/// reasons of rejections, which depend on the random inputs of each process.
[[nodiscard]] std::vector<std::string> run_content(const Store& store, RunId run);

/// Compares two results of run_content(). Returns both versions of the first line that differs; ""
/// if `a` and `b` are equal.
[[nodiscard]] std::string first_difference(const std::vector<std::string>& a,
                                           const std::vector<std::string>& b);

/// The damage that SQLite finds in the database file and in references between its tables; empty if
/// there is none.
[[nodiscard]] std::string integrity_damage(const Store& store);

}  // namespace evo
