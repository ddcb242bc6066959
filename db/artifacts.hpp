#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"

namespace evo {

class Connection;

/// The artifacts of a compilation as they are stored: Zstandard frames, the source by its content.
struct PackedArtifacts {
  std::string source_key;
  std::optional<std::string> source;  ///< nothing: it is there already
  std::string log;
  std::string ptx;
  std::string cubin;
};

/// Packs what is not packed yet; looks whether the source is there. Not within a write transaction:
/// this takes some milliseconds.
[[nodiscard]] PackedArtifacts pack(Connection& db, const CompilationRecord& record);

/// Stores them as those of a compilation that has none; within a transaction.
void insert_artifacts(Connection& db, CompilationId id, const PackedArtifacts& packed);

/// Throws DbError when they are damaged or missing.
[[nodiscard]] Artifacts read_artifacts(Connection& db, CompilationId id);

}  // namespace evo
