// Store: runs, and the rows they stand on.

#include <charconv>

#include "db/connection.hpp"
#include "db/owner.hpp"
#include "db/store.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

constexpr std::string_view kRunColumns =
    "SELECT r.id, r.status, r.shape, r.seed, r.strategy, r.elite_size, r.offspring,"
    " r.flops_per_launch, r.bytes_per_launch, r.options, r.evo_version, r.started_at,"
    " r.finished_at, d.selector, d.name, d.arch, d.kind, d.sm_count, d.clock_mhz,"
    " d.max_registers_per_thread, d.max_shared_bytes_per_cta, d.max_threads_per_cta, d.l2_bytes,"
    " d.peak_tflops, d.peak_bandwidth_gbs, d.driver, p.key, p.name, p.text, s.key, s.name, s.text,"
    " (SELECT max(g.number) FROM generation g WHERE g.run_id = r.id),"
    " (SELECT count(*) FROM candidate c WHERE c.run_id = r.id)"
    " FROM run r JOIN device d ON d.id = r.device_id JOIN problem p ON p.id = r.problem_id"
    " JOIN space s ON s.id = r.space_id ";

RunStatus status_from_string(std::string_view text) {
  if (text == "running") return RunStatus::kRunning;
  if (text == "finished") return RunStatus::kFinished;
  if (text == "interrupted") return RunStatus::kInterrupted;
  return RunStatus::kFailed;
}

std::uint64_t unsigned_from_string(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

DeviceInfo read_device(const Query& row) {
  return {.id = row.text(13),
          .name = row.text(14),
          .arch = row.text(15),
          .time_kind = time_kind_from_string(row.text(16)),
          .sm_count = row.small(17),
          .clock_mhz = row.real(18),
          .max_registers_per_thread = row.small(19),
          .max_shared_bytes_per_cta = row.small(20),
          .max_threads_per_cta = row.small(21),
          .l2_bytes = row.integer(22),
          .peak_tflops = row.real(23),
          .peak_bandwidth_gbs = row.real(24),
          .driver = row.text(25)};
}

StoredRun read_run(const Query& row) {
  StoredRun run;
  run.id = row.integer(0);
  run.status = status_from_string(row.text(1));
  run.started_at = row.text(11);
  run.finished_at = row.optional_text(12);
  if (const auto number = row.optional_integer(32)) run.last_generation = static_cast<int>(*number);
  run.evaluated = row.integer(33);
  run.info = {.device = read_device(row),
              .problem = {.key = row.text(26), .name = row.text(27), .text = row.text(28)},
              .space = {.key = row.text(29), .name = row.text(30), .text = row.text(31)},
              .shape = row.text(2),
              .seed = unsigned_from_string(row.text(3)),
              .strategy = row.text(4),
              .elite_size = row.small(5),
              .children = row.small(6),
              .flops_per_launch = row.real(7),
              .bytes_per_launch = row.real(8),
              .options_json = row.text(9),
              .evo_version = row.text(10)};
  return run;
}

std::string device_key(const DeviceInfo& device) {
  ContentHash hash;
  hash.add(device.id).add(device.name).add(device.arch).add(to_string(device.time_kind));
  for (const double number :
       {static_cast<double>(device.sm_count), device.clock_mhz,
        static_cast<double>(device.max_registers_per_thread),
        static_cast<double>(device.max_shared_bytes_per_cta),
        static_cast<double>(device.max_threads_per_cta), static_cast<double>(device.l2_bytes),
        device.peak_tflops, device.peak_bandwidth_gbs}) {
    hash.add(std::to_string(number));
  }
  return hash.add(device.driver).hex();
}

std::int64_t put_device(Connection& db, const DeviceInfo& device) {
  const std::string key = device_key(device);
  Query insert = db.query(
      "INSERT INTO device (key, selector, name, arch, kind, sm_count, clock_mhz,"
      " max_registers_per_thread, max_shared_bytes_per_cta, max_threads_per_cta, l2_bytes,"
      " peak_tflops, peak_bandwidth_gbs, driver) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT (key) DO NOTHING");
  insert.bind(key).bind(device.id).bind(device.name).bind(device.arch);
  insert.bind(to_string(device.time_kind)).bind(device.sm_count).bind(device.clock_mhz);
  insert.bind(device.max_registers_per_thread).bind(device.max_shared_bytes_per_cta);
  insert.bind(device.max_threads_per_cta).bind(device.l2_bytes).bind(device.peak_tflops);
  insert.bind(device.peak_bandwidth_gbs).bind(device.driver);
  insert.run();
  Query find = db.query("SELECT id FROM device WHERE key = ?");
  find.bind(key);
  if (!find.next()) db.fail("a device row vanished");
  return find.integer(0);
}

/// `table`: "problem" or "space".
std::int64_t put_file(Connection& db, const std::string& table, const StoredFile& file) {
  Query insert = db.query("INSERT INTO " + table +
                          " (key, name, text) VALUES (?,?,?) ON CONFLICT (key) DO NOTHING");
  insert.bind(file.key).bind(file.name).bind(file.text).run();
  Query find = db.query("SELECT id FROM " + table + " WHERE key = ?");
  find.bind(file.key);
  if (!find.next()) db.fail("a row of " + table + " vanished");
  return find.integer(0);
}

/// Within a transaction.
RunId insert_run(Connection& db, const RunInfo& info) {
  const std::int64_t device = put_device(db, info.device);
  const std::int64_t problem = put_file(db, "problem", info.problem);
  const std::int64_t space = put_file(db, "space", info.space);
  Query query = db.query(
      "INSERT INTO run (owner, device_id, problem_id, space_id, shape, seed, strategy,"
      " elite_size, offspring, flops_per_launch, bytes_per_launch, options, evo_version)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
  query.bind(this_process()).bind(device).bind(problem).bind(space).bind(info.shape);
  query.bind(std::to_string(info.seed)).bind(info.strategy).bind(info.elite_size);
  query.bind(info.children).bind(info.flops_per_launch).bind(info.bytes_per_launch);
  query.bind(info.options_json).bind(info.evo_version);
  query.run();
  return db.last_id();
}

std::optional<StoredRun> find_run(Connection& db, RunId run) {
  static const std::string sql = std::string(kRunColumns) + "WHERE r.id = ?";
  Query query = db.query(sql);
  query.bind(run);
  if (!query.next()) return std::nullopt;
  return read_run(query);
}

[[noreturn]] void fail_no_run(Connection& db, RunId run) {
  Query query = db.query("SELECT count(*), min(id), max(id) FROM run");
  std::string known = "it has no runs";
  if (query.next() && query.integer(0) > 0) {
    known =
        "it has " + query.text(0) + " of them, numbered " + query.text(1) + " to " + query.text(2);
  }
  db.fail("no run " + std::to_string(run) + "; " + known);
}

}  // namespace

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kFinished:
      return "finished";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kFailed:
      return "failed";
  }
  return "failed";
}

RunId Store::start_run(const RunInfo& info) { return start_runs({info}).front(); }

std::vector<RunId> Store::start_runs(const std::vector<RunInfo>& infos) {
  return connection_->write([&] {
    std::vector<RunId> runs;
    for (const RunInfo& info : infos) runs.push_back(insert_run(*connection_, info));
    return runs;
  });
}

std::vector<RunId> Store::runs_beside(RunId run) const {
  return connection_->read([&] {
    Query query = connection_->query(
        "SELECT o.id FROM run r JOIN run o ON o.id = r.id OR json_extract(o.options, '$.group') ="
        " json_extract(r.options, '$.group') WHERE r.id = ? ORDER BY o.id");
    query.bind(run);
    std::vector<RunId> runs;
    while (query.next()) runs.push_back(query.integer(0));
    if (runs.empty()) fail_no_run(*connection_, run);
    return runs;
  });
}

StoredRun Store::resume_run(RunId run, const std::string& options_json) {
  return connection_->write([&] {
    if (!find_run(*connection_, run)) fail_no_run(*connection_, run);
    {
      Query query = connection_->query("SELECT status, owner FROM run WHERE id = ?");
      query.bind(run);
      if (query.next() && query.text(0) == "running" && is_other_live_process(query.text(1))) {
        connection_->fail("run " + std::to_string(run) + " is being written by process " +
                          query.text(1) + " (host/process/start)");
      }
    }
    Query update = connection_->query(
        "UPDATE run SET status = 'running', owner = ?, finished_at = NULL WHERE id = ?");
    update.bind(this_process()).bind(run).run();
    if (!options_json.empty()) {
      Query options = connection_->query("UPDATE run SET options = ? WHERE id = ?");
      options.bind(options_json).bind(run).run();
    }
    return find_run(*connection_, run).value();
  });
}

void Store::finish_run(RunId run, RunStatus status) {
  connection_->write([&] {
    Query query = connection_->query(
        "UPDATE run SET status = ?, owner = '',"
        " finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = ?");
    query.bind(to_string(status)).bind(run).run();
    if (connection_->database().getChanges() == 0) fail_no_run(*connection_, run);
  });
}

std::optional<RunId> Store::find_resumable(const RunInfo& like) const {
  return connection_->read([&]() -> std::optional<RunId> {
    Query query = connection_->query(
        "SELECT r.id, r.status, r.owner FROM run r JOIN device d ON d.id = r.device_id"
        " JOIN problem p ON p.id = r.problem_id JOIN space s ON s.id = r.space_id"
        " WHERE r.status <> 'finished' AND p.key = ? AND s.key = ? AND r.shape = ?"
        " AND d.name = ? AND d.kind = ?"
        " AND json_extract(r.options, '$.aim') IS json_extract(?6, '$.aim')"
        " AND json_extract(r.options, '$.shapes') IS json_extract(?6, '$.shapes')"
        " ORDER BY r.id DESC");
    query.bind(like.problem.key).bind(like.space.key).bind(like.shape).bind(like.device.name);
    query.bind(to_string(like.device.time_kind)).bind(like.options_json);
    while (query.next()) {
      const bool taken = query.text(1) == "running" && is_other_live_process(query.text(2));
      if (!taken) return query.integer(0);
    }
    return std::nullopt;
  });
}

std::vector<StoredRun> Store::runs() const {
  return connection_->read([&] {
    static const std::string sql = std::string(kRunColumns) + "ORDER BY r.id";
    Query query = connection_->query(sql);
    std::vector<StoredRun> runs;
    while (query.next()) runs.push_back(read_run(query));
    return runs;
  });
}

StoredRun Store::run(RunId run) const {
  return connection_->read([&] {
    std::optional<StoredRun> found = find_run(*connection_, run);
    if (!found) fail_no_run(*connection_, run);
    return *found;
  });
}

}  // namespace evo
