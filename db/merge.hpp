#pragma once

#include <filesystem>

namespace evo {

class Connection;

/// How many runs of the other database merge() copied or skipped.
struct MergeCount {
  int added = 0;
  /// runs that `into` had with fewer candidates, or unfinished while `other` has them finished
  int replaced = 0;
  int known = 0;          ///< skipped: runs that `into` has already, with at least as much data
  int running = 0;        ///< skipped: runs that a process of this host is executing
  int on_other_host = 0;  ///< skipped: runs that a process of another host may be executing
};

/// Copies the runs of `other` into `into`, with all their rows, except the runs that MergeCount
/// calls skipped. A run whose process has died becomes interrupted. Runs with equal problem, space,
/// shape, device, seed, seed of the checks, strategy, version of evo-tune and start time count as
/// the same run, so a repeated merge changes nothing. Throws DbError if `other` is the file of
/// `into`, or is not a database with the schema version of this program.
MergeCount merge(Connection& into, const std::filesystem::path& other);

}  // namespace evo
