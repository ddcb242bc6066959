#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace evo {

/// An expression for readers without its grammar: {"expression": label, "tree": …}, the tree as
/// TranslatedExpression has it. `constants` are names with values. Throws InputError where `text`
/// is no expression.
[[nodiscard]] nlohmann::ordered_json expression_json(const std::string& text,
                                                     const std::string& label,
                                                     const nlohmann::ordered_json& constants);

/// What a loader of bundles needs of a kernel, in the form that is simplest to read: the "plan" of
/// docs/bundle.md, without "chosen_for". `manifest`: as export_kernel() writes it. Throws
/// InputError where it is not complete.
[[nodiscard]] nlohmann::ordered_json kernel_plan(const nlohmann::ordered_json& manifest,
                                                 const std::vector<std::string>& shape_variables);

/// 90 for sm_90 and sm_90a. Throws InputError for what is no architecture.
[[nodiscard]] int compute_capability_of(const std::string& arch);

}  // namespace evo
