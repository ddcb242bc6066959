#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"

namespace evo {

/// The databases and the selection of runs from which evo-export takes kernels.
struct ExportSource {
  std::vector<std::string> dbs = {"evo.db"};
  std::vector<RunId> runs = {};  ///< empty: the newest matching green candidate; for a bundle, all
  std::string device = {};       ///< as in RunFilter
  std::string shape = {};        ///< as in RunFilter
  CandidateId candidate = 0;     ///< above 0: this candidate; for a bundle, only this one
  /// name of the files or the bundle; if empty, made from space and shape, or from the problem
  std::string name = {};
};

}  // namespace evo
