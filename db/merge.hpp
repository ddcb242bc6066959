#pragma once

#include <filesystem>

namespace evo {

class Connection;

/// How many runs of the other database merge() took, and left.
struct MergeCount {
  int added = 0;
  int replaced = 0;  ///< they have gone on since they were merged
  int known = 0;     ///< they are here already
  int running = 0;   ///< a program still writes them: left out
};

/// Brings the runs of `other` into `into`, with all that belongs to them. Runs are told apart by
/// content: inputs, device, seeds, options and start. So doing it twice changes nothing. Throws
/// DbError where `other` is no database of this version.
MergeCount merge(Connection& into, const std::filesystem::path& other);

}  // namespace evo
