#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "db/store.hpp"

namespace evo {

/// Near the beginning of every manifest, and of every source that is exported.
inline constexpr std::string_view kManifestFormat = "evo-tune kernel 1";
inline constexpr std::string_view kExportedSource = "// Exported by evo-tune";

/// A kernel ready to leave: four files that belong together.
struct KernelExport {
  std::string name;  ///< file name without extension
  std::string cubin;
  std::string ptx;
  std::string source;  ///< self-contained: macros, source; a comment says how to compile it
  nlohmann::ordered_json manifest;  ///< docs/database.md lists its entries
};

/// Exports a green candidate of `store`; for a duplicate, the kernel it is a duplicate of. `name`
/// empty: space and shape. Throws DbError when the candidate is not green, or was recorded without
/// its kernel or without a manifest that says how to launch it.
[[nodiscard]] KernelExport export_kernel(const Store& store, CandidateId candidate,
                                         const std::string& name);

/// A time with what it was measured, or predicted, on.
[[nodiscard]] nlohmann::ordered_json timing_json(const StoredRun& run, const Timing& timing,
                                                 const std::string& date);

/// `text` as a file name that stays in its folder: letters, digits, '-', '_' and '.', but neither
/// '-' nor '.' first; everything else becomes '_'. At most 200 characters.
[[nodiscard]] std::string file_name(const std::string& text);

/// A line "#define NAME VALUE" for each -DNAME=VALUE among options as CompilationRecord has them.
[[nodiscard]] std::string macro_definitions(const std::string& compile_options);

/// The options that nvcc takes with the same meaning as NVRTC; NVRTC's own are left out.
[[nodiscard]] std::string nvcc_options(const std::string& compile_options);

}  // namespace evo
