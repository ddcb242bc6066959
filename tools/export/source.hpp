#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"

namespace evo {

/// The databases and the selection of runs from which evo-export takes kernels.
struct ExportSource {
  std::vector<std::string> dbs = {"evo.db"};
  std::vector<RunId> runs = {};  ///< empty: the newest matching run; for a bundle, all runs
  std::string device = {};       ///< as in RunFilter
  std::string shape = {};        ///< as in RunFilter
  CandidateId candidate = 0;     ///< if above 0, the only candidate to export
  /// name of the files or the bundle; if empty, made from space and shape, or from the problem
  std::string name = {};
};

}  // namespace evo
