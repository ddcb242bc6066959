#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"

namespace evo {

class Connection;

/// The artifacts of a compilation as stored: Zstandard frames. The key of a source is its hash.
struct PackedArtifacts {
  std::string source_key;
  std::optional<std::string> source;  ///< nullopt: the database has it already
  std::string log;
  std::string ptx;
  std::string cubin;
};

/// Compresses the artifacts that are not compressed yet, and looks up the source in the database.
/// Do not call pack() in a write transaction, because it takes some milliseconds.
[[nodiscard]] PackedArtifacts pack(Connection& db, const CompilationRecord& record);

/// Stores the artifacts of a compilation without artifacts. Call this function in a transaction.
void insert_artifacts(Connection& db, CompilationId id, const PackedArtifacts& packed);

/// Throws DbError if the artifacts are damaged or missing.
[[nodiscard]] Artifacts read_artifacts(Connection& db, CompilationId id);

}  // namespace evo
