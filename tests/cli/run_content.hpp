#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// The content of a run, in order and as text. Leaves out data that may differ between two
/// equivalent runs: dates, durations, row numbers, and figures in the reasons of rejections, which
/// depend on the random inputs of each process.
[[nodiscard]] std::vector<std::string> run_content(const Store& store, RunId run);

/// The first line in which two contents differ, from both; empty if the contents are equal.
[[nodiscard]] std::string first_difference(const std::vector<std::string>& a,
                                           const std::vector<std::string>& b);

/// The faults that SQLite finds in the file and its references; empty if there are none.
[[nodiscard]] std::string integrity_damage(const Store& store);

}  // namespace evo
