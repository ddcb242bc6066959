#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "db/store.hpp"

namespace evo {

/// Texts near the beginning of manifests and exported sources, by which evo-export recognises files
/// that it may replace.
inline constexpr std::string_view kManifestFormat = "evo-tune kernel 1";
inline constexpr std::string_view kExportedSource = "// Exported by evo-tune";

/// An exported kernel: the contents of its four files.
struct KernelExport {
  std::string name;  ///< file name without extension
  std::string cubin;
  std::string ptx;
  std::string source;  ///< self-contained: macros and source; a comment gives the compiler command
  nlohmann::ordered_json manifest;  ///< docs/database.md lists its entries
};

/// Exports the kernel of a green candidate; for a duplicate, exports the first candidate with the
/// same kernel. If `name` is empty, the files are named after the space and the shape. Throws
/// DbError if the candidate is not green, or was recorded without its kernel or without a complete
/// manifest.
[[nodiscard]] KernelExport export_kernel(const Store& store, CandidateId candidate,
                                         const std::string& name);

/// A kernel's time and the device on which it was measured or predicted.
[[nodiscard]] nlohmann::ordered_json timing_json(const StoredRun& run, const Timing& timing,
                                                 const std::string& date);

/// `text` as a safe file name: letters, digits, '-', '_' and '.', but neither '-' nor '.' first;
/// other characters become '_'. At most 200 characters.
[[nodiscard]] std::string file_name(const std::string& text);

/// A line "#define NAME VALUE" for each option -DNAME=VALUE. `compile_options`: the compiler
/// options in the form in which the database stores them.
[[nodiscard]] std::string macro_definitions(const std::string& compile_options);

/// The options among `compile_options` that have the same meaning in nvcc and NVRTC. Drops -D, the
/// architecture, and options that only NVRTC has.
[[nodiscard]] std::string nvcc_options(const std::string& compile_options);

}  // namespace evo
