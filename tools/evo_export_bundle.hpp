#pragma once

#include <string>

#include "db/store.hpp"

namespace evo {

/// A kernel ready to leave: four files that belong together.
struct Bundle {
  std::string name;  ///< file name without extension
  std::string cubin;
  std::string ptx;
  std::string source;    ///< self-contained: macros, source; a comment says how to compile it
  std::string manifest;  ///< JSON; docs/database.md lists its entries
};

/// Bundles a green candidate of `store`; for a duplicate, the kernel it is a duplicate of. `name`
/// empty: space and shape. Throws DbError when the candidate is not green, or was recorded without
/// its kernel or without a manifest that says how to launch it.
[[nodiscard]] Bundle make_bundle(const Store& store, CandidateId candidate,
                                 const std::string& name);

/// `text` as a file name that stays in its folder: letters, digits, '-', '_' and '.', but neither
/// '-' nor '.' first; everything else becomes '_'. At most 200 characters.
[[nodiscard]] std::string file_name(const std::string& text);

/// A line "#define NAME VALUE" for each -DNAME=VALUE among options as CompilationRecord has them.
[[nodiscard]] std::string macro_definitions(const std::string& compile_options);

/// The options that nvcc takes with the same meaning as NVRTC; NVRTC's own are left out.
[[nodiscard]] std::string nvcc_options(const std::string& compile_options);

}  // namespace evo
