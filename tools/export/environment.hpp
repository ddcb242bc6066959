#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "db/store.hpp"

namespace evo {

/// Names from a run's problem, for exported files with results.
struct ExportNames {
  /// the C++ names of the kernel's entries, with commas between them; the problem's name if
  /// problem.json cannot be read
  std::string kernel;
  nlohmann::ordered_json variables;  ///< variables of the shape; null if unreadable
};

[[nodiscard]] ExportNames names_of(const StoredRun& run);

/// The subject and the circumstances of a run's measurements: device and driver, whether times are
/// measured or predicted, space, problem, template, shape, seed, dates, version. A run of
/// evo-record also has "recording": the number of requested candidates, whether all were
/// recorded, the timing protocol, and the control's times in ms with the number of candidates
/// before each.
[[nodiscard]] nlohmann::ordered_json environment(const Store& store, const StoredRun& run);

}  // namespace evo
