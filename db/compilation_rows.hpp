#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/artifacts.hpp"
#include "db/records.hpp"

namespace evo {

// Functions for the stored compilations, which later runs reuse. Call them within a transaction.

[[nodiscard]] std::optional<CompilationId> find_compilation(Connection& db, std::string_view key);
/// Returns the facts without `request_key` and `dependencies`. Throws DbError if the database has
/// no compilation `id`.
[[nodiscard]] CompilationFacts read_facts(Connection& db, CompilationId id);
/// Returns all stored compilations with this CompilationFacts::request_key, newest first, with
/// their dependencies.
[[nodiscard]] std::vector<CompilationFacts> find_facts(Connection& db,
                                                       std::string_view request_key);
CompilationId insert_compilation(Connection& db, const CompilationFacts& facts,
                                 const PackedArtifacts& packed);

}  // namespace evo
