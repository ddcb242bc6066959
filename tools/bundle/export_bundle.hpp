#pragma once

#include <string>

#include "engine/core/error.hpp"
#include "tools/export/source.hpp"

namespace evo {

/// The options of evo-export --bundle.
struct BundleOptions {
  std::string folder;
  double loss_percent = 2;
  bool cpp = false;  ///< also writes a typed function and a CMake package
};

/// Writes the bundle and prints the names of its files. Returns kNothingGreen and writes nothing if
/// no kernel is green. Throws InputError or DbError.
[[nodiscard]] ExitCode export_bundle(const ExportSource& source, const BundleOptions& options);

}  // namespace evo
