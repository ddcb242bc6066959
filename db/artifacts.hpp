#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"

namespace evo {

class Connection;

/// The artifacts of a compilation in their stored form: Zstandard frames; the source is keyed by
/// content.
struct PackedArtifacts {
  std::string source_key;
  std::optional<std::string> source;  ///< nullopt: it is stored already
  std::string log;
  std::string ptx;
  std::string cubin;
};

/// Packs the parts that are not packed yet, and checks whether the source is stored. Do not call it
/// in a write transaction, because it takes some milliseconds.
[[nodiscard]] PackedArtifacts pack(Connection& db, const CompilationRecord& record);

/// Stores the artifacts of a compilation that has none; call it in a transaction.
void insert_artifacts(Connection& db, CompilationId id, const PackedArtifacts& packed);

/// Throws DbError if they are damaged or missing.
[[nodiscard]] Artifacts read_artifacts(Connection& db, CompilationId id);

}  // namespace evo
