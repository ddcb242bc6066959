#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"

namespace evo {

class Connection;

/// The artifacts of a compilation as the database stores them: source, log, PTX and cubin are
/// Zstandard frames.
struct PackedArtifacts {
  std::string source_key;             ///< hash of the source text
  std::optional<std::string> source;  ///< nullopt: the database has this source already
  std::string log;
  std::string ptx;
  std::string cubin;
};

/// Compresses the artifacts that are not compressed yet. Leaves out the source if the database has
/// it. Call pack() outside of transactions: pack() makes a read transaction of its own, and other
/// writers should not wait for the compression.
[[nodiscard]] PackedArtifacts pack(Connection& db, const CompilationRecord& record);

/// Stores the artifacts of compilation `id`, which has none yet. Call this function in a
/// transaction.
void insert_artifacts(Connection& db, CompilationId id, const PackedArtifacts& packed);

/// Returns the decompressed artifacts of a compilation. Throws DbError if any is damaged or
/// missing.
[[nodiscard]] Artifacts read_artifacts(Connection& db, CompilationId id);

}  // namespace evo
