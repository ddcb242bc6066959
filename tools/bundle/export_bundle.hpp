#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"
#include "engine/core/error.hpp"

namespace evo {

/// What evo-export --bundle takes.
struct BundleOptions {
  std::vector<std::string> dbs;
  std::vector<RunId> runs;  ///< empty: all that fit
  std::string device;       ///< as in RunFilter
  std::string shape;        ///< as in RunFilter
  std::string folder;
  std::string name;  ///< empty: the problem's
  double loss_percent = 2;
  bool cpp = false;  ///< with a typed function and a CMake package
};

/// Writes the bundle and prints the names of its files. Throws InputError or DbError.
[[nodiscard]] ExitCode export_bundle(const BundleOptions& options);

}  // namespace evo
