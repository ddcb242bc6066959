#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/bundle/kernels.hpp"

namespace evo {

/// The content of a bundle's folder.
struct Bundle {
  std::string name;
  nlohmann::ordered_json index;                            ///< see docs/bundle.md
  std::vector<std::pair<std::string, std::string>> files;  ///< name, content; without the index
  std::vector<std::string> notes;                          ///< messages for the user of evo-export
};

inline constexpr const char* kBundleIndexFile = "bundle.json";

/// The text of an index; its first line has the hash of the rest.
[[nodiscard]] std::string index_text(const nlohmann::ordered_json& index);

/// A bundle of, for each target (a device model), the fewest kernels that stay within the fraction
/// `loss` of each shape's best time, and the target's kernels of default configurations. An empty
/// `name` means the problem's name. Throws InputError if the runs are of several problems, their
/// kernels take different arguments, or bundles do not support an argument. Throws DbError if a
/// kernel cannot be exported.
[[nodiscard]] Bundle make_bundle(const std::vector<BundleSource>& sources,
                                 const std::vector<BundleTarget>& targets, double loss,
                                 const std::string& name);

}  // namespace evo
