#pragma once

#include <string>
#include <vector>

#include "engine/run/run_info.hpp"

namespace evo {

/// The runs of a command that makes several searches one after the other.
struct StoredCommand {
  std::string group;  ///< see RunRequest
  /// The runs of each search, one for each shape; empty if the search was not begun.
  std::vector<std::vector<StoredRun>> searches;

  [[nodiscard]] bool is_finished(std::size_t search) const;
  /// The runs of the first search that was begun.
  [[nodiscard]] const std::vector<StoredRun>& begun() const;
};

/// Finds the newest command that made the searches `request.searches` and has not finished all of
/// them. `likes`: for each search, the data of a new run on its first shape. Throws InputError if
/// there is no such command, or if an option that cannot change differs from its runs.
[[nodiscard]] StoredCommand find_unfinished_command(const Store& store, const RunRequest& request,
                                                    const std::vector<RunInfo>& likes,
                                                    const Resumption& resumption);

}  // namespace evo
