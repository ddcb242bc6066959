#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "db/store.hpp"

namespace evo {

/// What the problem of a run calls things.
struct ExportNames {
  std::string kernel;                ///< the entry in C++; of an unreadable text the problem's name
  nlohmann::ordered_json variables;  ///< of the shape; null in an unreadable text
};

[[nodiscard]] ExportNames names_of(const StoredRun& run);

/// What a run was measured on and how: device and driver, whether times are measured or predicted,
/// space, problem, template, shape, seed, dates, version. Of a recording (evo-record) also
/// "recording": how many candidates were asked for, whether all of them are there, the protocol of
/// timing, and what the control took after so many candidates, in ms.
[[nodiscard]] nlohmann::ordered_json environment(const Store& store, const StoredRun& run);

}  // namespace evo
