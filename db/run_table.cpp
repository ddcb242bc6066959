#include "db/run_table.hpp"

#include <nlohmann/json.hpp>

#include "db/connection.hpp"
#include "db/owner.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

constexpr std::string_view kRunColumns =
    "SELECT r.id, r.status, r.started_at, r.finished_at,"
    " (SELECT max(g.number) FROM generation g WHERE g.run_id = r.id),"
    " (SELECT count(*) FROM candidate c WHERE c.run_id = r.id),"
    " r.shape, r.seed, r.strategy, r.elite_size, r.offspring, r.flops_per_launch,"
    " r.bytes_per_launch, r.options, r.evo_version,"
    " d.selector, d.name, d.arch, d.kind, d.sm_count, d.clock_mhz, d.max_registers_per_thread,"
    " d.max_shared_bytes_per_cta, d.max_threads_per_cta, d.l2_bytes, d.peak_tflops,"
    " d.peak_bandwidth_gbs, d.driver, p.key, p.name, p.text, s.key, s.name, s.text"
    " FROM run r JOIN device d ON d.id = r.device_id JOIN problem p ON p.id = r.problem_id"
    " JOIN space s ON s.id = r.space_id ";

StoredRun read_run(Query& row) {
  StoredRun run;
  RunInfo& info = run.info;
  DeviceInfo& device = info.device;
  row.read(run.id, run.status, run.started_at, run.finished_at, run.last_generation, run.evaluated);
  row.read(info.shape, info.seed, info.strategy, info.elite_size, info.offspring,
           info.flops_per_launch, info.bytes_per_launch, info.options_json, info.evo_version);
  row.read(device.id, device.name, device.arch, device.time_kind, device.sm_count, device.clock_mhz,
           device.max_registers_per_thread, device.max_shared_bytes_per_cta,
           device.max_threads_per_cta, device.l2_bytes, device.peak_tflops,
           device.peak_bandwidth_gbs, device.driver);
  row.read(info.problem.key, info.problem.name, info.problem.text);
  row.read(info.space.key, info.space.name, info.space.text);
  return run;
}

/// A hash of the properties of a device that the table `device` stores.
std::string device_key(const DeviceInfo& device) {
  return content_key(
      nlohmann::json({device.id, device.name, device.arch, to_string(device.time_kind),
                      device.sm_count, device.clock_mhz, device.max_registers_per_thread,
                      device.max_shared_bytes_per_cta, device.max_threads_per_cta, device.l2_bytes,
                      device.peak_tflops, device.peak_bandwidth_gbs, device.driver})
          .dump());
}

/// Returns the id of the row of `table` whose key is `key`.
std::int64_t id_of(Connection& db, const std::string& table, const std::string& key) {
  const auto id = db.query("SELECT id FROM " + table + " WHERE key = ?", key).first<std::int64_t>();
  if (!id) {
    db.fail(
        "is damaged: the table '{}' lacks a row of the new run; restore a backup, or name another "
        "file by --db",
        table);
  }
  return *id;
}

std::int64_t put_device(Connection& db, const DeviceInfo& device) {
  const std::string key = device_key(device);
  db.run(
      "INSERT INTO device (key, selector, name, arch, kind, sm_count, clock_mhz,"
      " max_registers_per_thread, max_shared_bytes_per_cta, max_threads_per_cta, l2_bytes,"
      " peak_tflops, peak_bandwidth_gbs, driver) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT (key) DO NOTHING",
      key, device.id, device.name, device.arch, device.time_kind, device.sm_count, device.clock_mhz,
      device.max_registers_per_thread, device.max_shared_bytes_per_cta, device.max_threads_per_cta,
      device.l2_bytes, device.peak_tflops, device.peak_bandwidth_gbs, device.driver);
  return id_of(db, "device", key);
}

/// `table`: "problem" or "space".
std::int64_t put_file(Connection& db, const std::string& table, const StoredFile& file) {
  db.run("INSERT INTO " + table + " (key, name, text) VALUES (?,?,?) ON CONFLICT (key) DO NOTHING",
         file.key, file.name, file.text);
  return id_of(db, table, file.key);
}

RunId insert_run(Connection& db, const RunInfo& info) {
  const std::int64_t device = put_device(db, info.device);
  const std::int64_t problem = put_file(db, "problem", info.problem);
  const std::int64_t space = put_file(db, "space", info.space);
  db.run(
      "INSERT INTO run (owner, device_id, problem_id, space_id, shape, seed, strategy, elite_size,"
      " offspring, flops_per_launch, bytes_per_launch, options, evo_version)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
      this_process(), device, problem, space, info.shape, info.seed, info.strategy, info.elite_size,
      info.offspring, info.flops_per_launch, info.bytes_per_launch, info.options_json,
      info.evo_version);
  return db.last_id();
}

[[noreturn]] void fail_no_run(Connection& db, RunId run) {
  Query row = db.query("SELECT count(*), min(id), max(id) FROM run");
  std::int64_t count = 0;
  std::optional<RunId> first, last;
  if (row.next()) row.read(count, first, last);
  if (count == 0) db.fail("no run {}; the database has no runs", run);
  db.fail("no run {}; stored runs: {}, numbered {} to {}", run, count, *first, *last);
}

StoredRun find_run(Connection& db, RunId run) {
  static const std::string sql = std::string(kRunColumns) + "WHERE r.id = ?";
  Query row = db.query(sql, run);
  if (!row.next()) fail_no_run(db, run);
  return read_run(row);
}

/// Throws DbError if another process is executing the run.
void require_free(Connection& db, RunId run) {
  const auto owner = db.query("SELECT owner FROM run WHERE id = ? AND status = 'running'", run)
                         .first<std::string>();
  if (!owner || !is_other_live_process(*owner)) return;
  db.fail(
      "run {} is being written by process {} (host/process/start); wait until this process ends, "
      "or start a new run without --resume",
      run, *owner);
}

}  // namespace

std::vector<RunId> RunTable::start_runs(const std::vector<RunInfo>& infos) {
  return db_->write([&] {
    std::vector<RunId> runs;
    for (const RunInfo& info : infos) runs.push_back(insert_run(*db_, info));
    return runs;
  });
}

std::vector<RunId> RunTable::runs_beside(RunId run) const {
  return db_->read([&] {
    const std::vector<RunId> runs =
        db_->query(
               "SELECT o.id FROM run r JOIN run o ON o.id = r.id OR"
               " json_extract(o.options, '$.group') = json_extract(r.options, '$.group') AND"
               " json_extract(o.options, '$.shapes') = json_extract(r.options, '$.shapes')"
               " WHERE r.id = ? ORDER BY o.id",
               run)
            .all<RunId>();
    if (runs.empty()) fail_no_run(*db_, run);
    return runs;
  });
}

StoredRun RunTable::resume_run(RunId run, const std::string& options_json) {
  return db_->write([&] {
    require_free(*db_, run);
    const int changed = db_->run(
        "UPDATE run SET status = 'running', owner = ?, finished_at = NULL,"
        " options = coalesce(nullif(?, ''), options) WHERE id = ?",
        this_process(), options_json, run);
    if (changed == 0) fail_no_run(*db_, run);
    return find_run(*db_, run);
  });
}

void RunTable::finish_run(RunId run, RunStatus status) {
  db_->write([&] {
    const int changed = db_->run(
        "UPDATE run SET status = ?, owner = '',"
        " finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = ?",
        status, run);
    if (changed == 0) fail_no_run(*db_, run);
  });
}

std::optional<RunId> RunTable::find_resumable(const RunInfo& like) const {
  return db_->read([&]() -> std::optional<RunId> {
    Query row = db_->query(
        "SELECT r.id, r.status, r.owner FROM run r JOIN device d ON d.id = r.device_id"
        " JOIN problem p ON p.id = r.problem_id JOIN space s ON s.id = r.space_id"
        " WHERE r.status <> 'finished' AND p.key = ? AND s.key = ? AND r.shape = ?"
        " AND d.name = ? AND d.kind = ?"
        " AND json_extract(r.options, '$.aim') IS json_extract(?6, '$.aim')"
        " AND json_extract(r.options, '$.shapes') IS json_extract(?6, '$.shapes')"
        " ORDER BY r.id DESC",
        like.problem.key, like.space.key, like.shape, like.device.name, like.device.time_kind,
        like.options_json);
    while (row.next()) {
      RunId run = 0;
      RunStatus status{};
      std::string owner;
      row.read(run, status, owner);
      if (status != RunStatus::kRunning || !is_other_live_process(owner)) return run;
    }
    return std::nullopt;
  });
}

std::vector<StoredRun> RunTable::runs() const {
  return db_->read([&] {
    static const std::string sql = std::string(kRunColumns) + "ORDER BY r.id";
    return db_->query(sql).all(read_run);
  });
}

StoredRun RunTable::run(RunId run) const {
  return db_->read([&] { return find_run(*db_, run); });
}

}  // namespace evo
