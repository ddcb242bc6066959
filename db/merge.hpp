#pragma once

#include <filesystem>

namespace evo {

class Connection;

/// How many runs of the other database merge() copied and skipped.
struct MergeCount {
  int added = 0;
  int replaced = 0;  ///< runs that have continued since they were merged
  int known = 0;     ///< runs that exist here already
  int running = 0;   ///< runs that a program is still writing; skipped
};

/// Copies the runs of `other` into `into`, with all their rows. Runs are identified by content
/// (inputs, device, seeds, options and start), so a repeated merge changes nothing. Throws DbError
/// if `other` is not a database of this schema version.
MergeCount merge(Connection& into, const std::filesystem::path& other);

}  // namespace evo
