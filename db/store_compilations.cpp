// Store: the cache of compilations.

#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

constexpr std::string_view kColumns =
    "SELECT key, ok, arch, compiler, options, error, compile_ms, ptx_hash, registers,"
    " static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes, max_threads, log,"
    " source, ptx, cubin FROM compilation ";

CompilationRecord read_record(const Query& row) {
  CompilationRecord record;
  record.key = row.text(0);
  record.ok = row.integer(1) != 0;
  record.arch = row.text(2);
  record.compiler = row.text(3);
  record.options = row.text(4);
  record.error = row.text(5);
  record.compile_ms = row.real(6);
  record.ptx_hash = row.text(7);
  record.resources = {.registers = row.small(8),
                      .static_shared_bytes = row.small(9),
                      .spill_store_bytes = row.small(10),
                      .spill_load_bytes = row.small(11),
                      .stack_bytes = row.small(12),
                      .max_threads = row.small(13)};
  record.log = row.text(14);
  record.source = row.text(15);
  record.ptx = row.text(16);
  record.cubin = row.text(17);
  return record;
}

void insert(Connection& db, const CompilationRecord& record) {
  Query query = db.query(
      "INSERT INTO compilation (key, ok, arch, compiler, options, error, compile_ms, ptx_hash,"
      " registers, static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes,"
      " max_threads, log, source, ptx, cubin, request_key)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (key) DO NOTHING");
  const Resources& resources = record.resources;
  query.bind(record.key).bind(record.ok).bind(record.arch).bind(record.compiler);
  // A NUL would end the text for the constraint on it.
  query.bind(record.options).bind(printable(record.error)).bind(record.compile_ms);
  if (record.ok) {
    query.bind(record.ptx_hash);
  } else {
    query.bind_null();
  }
  query.bind(resources.registers).bind(resources.static_shared_bytes);
  query.bind(resources.spill_store_bytes).bind(resources.spill_load_bytes);
  query.bind(resources.stack_bytes).bind(resources.max_threads);
  query.bind(printable(record.log)).bind(record.source).bind(record.ptx).bind_blob(record.cubin);
  query.bind(record.request_key.empty() ? record.key : record.request_key);
  query.run();
}

void insert_dependencies(Connection& db, CompilationId id, const CompilationRecord& record) {
  for (const StoredDependency& dependency : record.dependencies) {
    Query query = db.query(
        "INSERT INTO dependency (compilation_id, path, content) VALUES (?,?,?)"
        " ON CONFLICT DO NOTHING");
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

}  // namespace

std::optional<CompilationRecord> Store::find_compilation(std::string_view key) const {
  return connection_->read([&]() -> std::optional<CompilationRecord> {
    static const std::string sql = std::string(kColumns) + "WHERE key = ?";
    Query query = connection_->query(sql);
    query.bind(key);
    if (!query.next()) return std::nullopt;
    return read_record(query);
  });
}

std::vector<CompilationRecord> Store::find_compilations(std::string_view request_key) const {
  return connection_->read([&] {
    static const std::string sql = std::string(kColumns) + "WHERE request_key = ? ORDER BY id DESC";
    std::vector<CompilationRecord> records;
    {
      Query query = connection_->query(sql);
      query.bind(request_key);
      while (query.next()) records.push_back(read_record(query));
    }
    for (CompilationRecord& record : records) {
      record.request_key = request_key;
      record.dependencies =
          read_dependencies(*connection_, find_id(*connection_, record.key).value());
    }
    return records;
  });
}

std::optional<CompilationId> Store::compilation_id(std::string_view key) const {
  return connection_->read([&] { return find_id(*connection_, key); });
}

CompilationRecord Store::compilation(CompilationId id) const {
  return connection_->read([&] {
    static const std::string sql = std::string(kColumns) + "WHERE id = ?";
    Query query = connection_->query(sql);
    query.bind(id);
    if (!query.next()) connection_->fail("no compilation " + std::to_string(id));
    return read_record(query);
  });
}

CompilationId Store::put_compilation(const CompilationRecord& record) {
  if (record.ok == record.ptx_hash.empty() || record.ok != record.error.empty()) {
    connection_->fail("compilation " + record.key +
                      " must have either a PTX hash or an error, as its 'ok' says");
  }
  return connection_->write([&] {
    insert(*connection_, record);
    const CompilationId id = find_id(*connection_, record.key).value();
    insert_dependencies(*connection_, id, record);
    return id;
  });
}

}  // namespace evo
