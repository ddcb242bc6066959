#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"

namespace evo {

/// The source of evo-export's kernels.
struct ExportSource {
  std::vector<std::string> dbs = {"evo.db"};
  std::vector<RunId> runs = {};  ///< empty: the newest matching green candidate; for a bundle, all
  std::string device = {};       ///< as in RunFilter
  std::string shape = {};        ///< as in RunFilter
  CandidateId candidate = 0;     ///< above 0: this candidate; for a bundle, only this one
  /// name of the files or the bundle; empty: from space and shape or problem
  std::string name = {};
};

}  // namespace evo
