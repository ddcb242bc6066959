#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace evo {

/// The "plan" of docs/bundle.md without "chosen_for": the data about a kernel that a loader needs.
/// `manifest`: from export_kernel(). Throws InputError if the manifest is incomplete.
[[nodiscard]] nlohmann::ordered_json kernel_plan(const nlohmann::ordered_json& manifest,
                                                 const std::vector<std::string>& shape_variables);

/// The compute capability of an architecture: 90 for sm_90 and sm_90a. Throws InputError if
/// `arch` is not the name of an architecture.
[[nodiscard]] int compute_capability_of(const std::string& arch);

}  // namespace evo
