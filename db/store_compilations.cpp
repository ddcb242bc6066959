// Store: the cache of compilations.

#include <utility>

#include "db/compilation_texts.hpp"
#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

constexpr std::string_view kColumns =
    "SELECT key, ok, arch, compiler, options, error, compile_ms, ptx_hash, registers,"
    " static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes, max_threads, id"
    " FROM compilation ";

CompilationFacts read_facts(const Query& row) {
  CompilationFacts facts;
  facts.id = row.integer(14);
  facts.key = row.text(0);
  facts.ok = row.integer(1) != 0;
  facts.arch = row.text(2);
  facts.compiler = row.text(3);
  facts.options = row.text(4);
  facts.error = row.text(5);
  facts.compile_ms = row.real(6);
  facts.ptx_hash = row.text(7);
  facts.resources = {.registers = row.small(8),
                     .static_shared_bytes = row.small(9),
                     .spill_store_bytes = row.small(10),
                     .spill_load_bytes = row.small(11),
                     .stack_bytes = row.small(12),
                     .max_threads = row.small(13)};
  return facts;
}

CompilationRecord with_texts(Connection& db, CompilationFacts facts) {
  std::optional<CompilationTexts> texts = find_texts(db, facts.id);
  if (!texts) {
    db.fail("is damaged: the texts of compilation " + std::to_string(facts.id) + " are missing");
  }
  return {std::move(facts), std::move(*texts)};
}

void insert_facts(Connection& db, const CompilationFacts& facts) {
  Query query = db.query(
      "INSERT INTO compilation (key, ok, arch, compiler, options, error, compile_ms, ptx_hash,"
      " registers, static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes,"
      " max_threads, request_key) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const Resources& resources = facts.resources;
  query.bind(facts.key).bind(facts.ok).bind(facts.arch).bind(facts.compiler);
  // A NUL would end the text for the constraint on it.
  query.bind(facts.options).bind(printable(facts.error)).bind(facts.compile_ms);
  if (facts.ok) {
    query.bind(facts.ptx_hash);
  } else {
    query.bind_null();
  }
  query.bind(resources.registers).bind(resources.static_shared_bytes);
  query.bind(resources.spill_store_bytes).bind(resources.spill_load_bytes);
  query.bind(resources.stack_bytes).bind(resources.max_threads);
  query.bind(facts.request_key.empty() ? facts.key : facts.request_key);
  query.run();
}

void insert_dependencies(Connection& db, CompilationId id, const CompilationFacts& facts) {
  for (const StoredDependency& dependency : facts.dependencies) {
    Query query = db.query("INSERT INTO dependency (compilation_id, path, content) VALUES (?,?,?)");
    query.bind(id).bind(dependency.path).bind(dependency.content).run();
  }
}

std::vector<StoredDependency> read_dependencies(Connection& db, CompilationId id) {
  Query query =
      db.query("SELECT path, content FROM dependency WHERE compilation_id = ? ORDER BY path");
  query.bind(id);
  std::vector<StoredDependency> dependencies;
  while (query.next()) dependencies.push_back({query.text(0), query.text(1)});
  return dependencies;
}

std::optional<CompilationId> find_id(Connection& db, std::string_view key) {
  Query query = db.query("SELECT id FROM compilation WHERE key = ?");
  query.bind(key);
  if (!query.next()) return std::nullopt;
  return query.integer(0);
}

std::vector<CompilationFacts> find_facts(Connection& db, std::string_view request_key) {
  static const std::string sql = std::string(kColumns) + "WHERE request_key = ? ORDER BY id DESC";
  std::vector<CompilationFacts> found;
  {
    Query query = db.query(sql);
    query.bind(request_key);
    while (query.next()) found.push_back(read_facts(query));
  }
  for (CompilationFacts& facts : found) {
    facts.request_key = request_key;
    facts.dependencies = read_dependencies(db, facts.id);
  }
  return found;
}

CompilationFacts facts_of(Connection& db, CompilationId id) {
  static const std::string sql = std::string(kColumns) + "WHERE id = ?";
  Query query = db.query(sql);
  query.bind(id);
  if (!query.next()) db.fail("no compilation " + std::to_string(id));
  return read_facts(query);
}

}  // namespace

std::optional<CompilationRecord> Store::find_compilation(std::string_view key) const {
  const std::optional<CompilationId> id = compilation_id(key);
  return id ? std::optional(compilation(*id)) : std::nullopt;
}

std::vector<CompilationFacts> Store::find_compilation_facts(std::string_view request_key) const {
  return connection_->read([&] { return find_facts(*connection_, request_key); });
}

std::vector<CompilationRecord> Store::find_compilations(std::string_view request_key) const {
  return connection_->read([&] {
    std::vector<CompilationRecord> records;
    for (CompilationFacts& facts : find_facts(*connection_, request_key)) {
      records.push_back(with_texts(*connection_, std::move(facts)));
    }
    return records;
  });
}

std::optional<CompilationId> Store::compilation_id(std::string_view key) const {
  return connection_->read([&] { return find_id(*connection_, key); });
}

CompilationFacts Store::compilation_facts(CompilationId id) const {
  return connection_->read([&] { return facts_of(*connection_, id); });
}

CompilationRecord Store::compilation(CompilationId id) const {
  return connection_->read([&] { return with_texts(*connection_, facts_of(*connection_, id)); });
}

CompilationId Store::put_compilation(const CompilationRecord& record) {
  if (record.ok == record.ptx_hash.empty() || record.ok != record.error.empty()) {
    connection_->fail("compilation " + record.key +
                      " must have either a PTX hash or an error, as its 'ok' says");
  }
  if (const std::optional<CompilationId> known = compilation_id(record.key)) return *known;
  const PackedTexts packed = pack(*connection_, record);
  return connection_->write([&] {
    // Another process may have been first.
    if (const std::optional<CompilationId> known = find_id(*connection_, record.key)) return *known;
    insert_facts(*connection_, record);
    const CompilationId id = connection_->last_id();
    insert_texts(*connection_, id, packed);
    insert_dependencies(*connection_, id, record);
    return id;
  });
}

}  // namespace evo
