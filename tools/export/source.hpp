#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"

namespace evo {

/// Where evo-export takes kernels from.
struct ExportSource {
  std::vector<std::string> dbs = {"evo.db"};
  std::vector<RunId> runs = {};  ///< empty: the newest green one that fits; of a bundle, all
  std::string device = {};       ///< as in RunFilter
  std::string shape = {};        ///< as in RunFilter
  CandidateId candidate = 0;     ///< above 0: this one; of a bundle, it alone
  std::string name = {};  ///< of the files or the bundle; empty: by space and shape or problem
};

}  // namespace evo
