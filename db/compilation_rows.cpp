#include "db/compilation_rows.hpp"

#include <string>

#include "db/connection.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

constexpr std::string_view kFactsColumns =
    "SELECT id, key, ok, arch, compiler, options, error, compile_ms, ptx_hash, registers,"
    " static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes, max_threads"
    " FROM compilation ";

CompilationFacts read_facts_row(Query& row) {
  CompilationFacts facts;
  Resources& resources = facts.resources;
  row.read(facts.id, facts.key, facts.ok, facts.arch, facts.compiler, facts.options, facts.error,
           facts.compile_ms, facts.ptx_hash, resources.registers, resources.static_shared_bytes,
           resources.spill_store_bytes, resources.spill_load_bytes, resources.stack_bytes,
           resources.max_threads);
  return facts;
}

Dependency read_dependency(Query& row) {
  Dependency dependency;
  row.read(dependency.path, dependency.content);
  return dependency;
}

}  // namespace

std::optional<CompilationId> find_compilation(Connection& db, std::string_view key) {
  return db.query("SELECT id FROM compilation WHERE key = ?", key).first<CompilationId>();
}

CompilationFacts read_facts(Connection& db, CompilationId id) {
  static const std::string sql = std::string(kFactsColumns) + "WHERE id = ?";
  Query row = db.query(sql, id);
  if (!row.next()) db.fail("no compilation {}", id);
  return read_facts_row(row);
}

std::vector<CompilationFacts> find_facts(Connection& db, std::string_view request_key) {
  static const std::string sql =
      std::string(kFactsColumns) + "WHERE request_key = ? ORDER BY id DESC";
  std::vector<CompilationFacts> found = db.query(sql, request_key).all(read_facts_row);
  for (CompilationFacts& facts : found) {
    facts.request_key = request_key;
    facts.dependencies =
        db.query("SELECT path, content FROM dependency WHERE compilation_id = ? ORDER BY path",
                 facts.id)
            .all(read_dependency);
  }
  return found;
}

CompilationId insert_compilation(Connection& db, const CompilationFacts& facts,
                                 const PackedArtifacts& packed) {
  const Resources& resources = facts.resources;
  db.run(
      "INSERT INTO compilation (key, request_key, ok, arch, compiler, options, error, compile_ms,"
      " ptx_hash, registers, static_shared_bytes, spill_store_bytes, spill_load_bytes,"
      " stack_bytes, max_threads) VALUES (?,?,?,?,?,?,?,?,nullif(?,''),?,?,?,?,?,?)",
      facts.key, facts.request_key.empty() ? facts.key : facts.request_key, facts.ok, facts.arch,
      // SQLite ends a text at a NUL byte, so an error that begins with NUL would count as empty,
      // which the schema forbids for a failed compilation.
      facts.compiler, facts.options, printable(facts.error), facts.compile_ms, facts.ptx_hash,
      resources.registers, resources.static_shared_bytes, resources.spill_store_bytes,
      resources.spill_load_bytes, resources.stack_bytes, resources.max_threads);
  const CompilationId id = db.last_id();
  insert_artifacts(db, id, packed);
  for (const Dependency& dependency : facts.dependencies) {
    db.run("INSERT INTO dependency (compilation_id, path, content) VALUES (?,?,?)", id,
           dependency.path, dependency.content);
  }
  return id;
}

}  // namespace evo
