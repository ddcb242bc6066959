#include "db/merge.hpp"

#include <array>
#include <string>
#include <string_view>

#include "db/connection.hpp"
#include "db/owner.hpp"
#include "engine/core/at_end.hpp"

namespace evo {
namespace {

/// The tables whose rows several runs may share. A row that both databases have is stored once.
/// Each table is listed after the tables to which its rows refer.
constexpr std::array<std::string_view, 7> kShared = {
    "device", "problem", "space", "source", "compilation", "dependency", "artifact"};

/// The tables whose rows each belong to one run. Each table is listed after the tables to which its
/// rows refer.
constexpr std::array<std::string_view, 17> kOfRuns = {
    "run",        "candidate", "generation",  "check_result", "timing",         "rejection",
    "withdrawal", "gpu_state", "energy",      "profile",      "profile_metric", "elite_member",
    "comparison", "event",     "vendor_time", "winner_step",  "winner_unit"};

/// The SQL clauses that join each run of the other database (`o`) with the same run of this
/// database (`m`).
constexpr const char* kSameRun =
    " FROM other.run o JOIN main.run m ON m.started_at = o.started_at AND m.seed = o.seed"
    " AND m.shape = o.shape AND m.strategy = o.strategy AND m.evo_version = o.evo_version"
    " AND json_extract(m.options, '$.check_seed') IS json_extract(o.options, '$.check_seed')"
    " JOIN main.space ms ON ms.id = m.space_id JOIN other.space os ON os.id = o.space_id"
    " AND os.key = ms.key"
    " JOIN main.problem mp ON mp.id = m.problem_id JOIN other.problem op ON op.id = o.problem_id"
    " AND op.key = mp.key"
    " JOIN main.device md ON md.id = m.device_id JOIN other.device od ON od.id = o.device_id"
    " AND od.key = md.key";

/// The SQL expression for the id of the row of this database that has the same key as the row to
/// which `column` refers in the other database.
std::string by_key(const std::string& table, const std::string& column) {
  return "(SELECT m.id FROM main." + table + " m JOIN other." + table +
         " o ON o.key = m.key WHERE o.id = t." + column + ")";
}

/// The SQL expression for the value that a column gets in this database when a row `t` of the other
/// database is copied. Ids of the other database are translated to ids of this database; `owner`
/// becomes empty and `status` is not "running", because no process executes the copied run.
std::string translated(const std::string& table, const std::string& column) {
  if (column == "id") {
    return table == "run" ? "t.id + (SELECT run FROM offset)"
                          : "t.id + (SELECT candidate FROM offset)";
  }
  if (column == "run_id") return "t.run_id + (SELECT run FROM offset)";
  if (column == "candidate_id" || column == "challenger_id" || column == "incumbent_id" ||
      column == "winner_id" || column == "duplicate_of") {
    return "t." + column + " + (SELECT candidate FROM offset)";
  }
  if (column == "owner") return "''";
  if (column == "status") return "replace(t.status, 'running', 'interrupted')";
  for (const char* shared : {"device", "problem", "space", "source", "compilation"}) {
    if (column == std::string(shared) + "_id") return by_key(shared, column);
  }
  return "t." + column;
}

/// Copies the rows of a table that satisfy `condition`, except rows that this database has already.
/// If `condition` is empty, copies the rows that belong to the copied runs.
void copy(SQLite::Database& db, const std::string& table, const std::string& condition) {
  std::string columns, values;
  bool has_run = table == "run", has_candidate = false;
  SQLite::Statement names(db, "SELECT name FROM pragma_table_info(?)");
  names.bind(1, table);
  while (names.executeStep()) {
    const std::string column = names.getColumn(0);
    const bool keeps_number = table == "run" || table == "candidate";
    if (column == "id" && !keeps_number) continue;  // a new id
    columns += (columns.empty() ? "" : ", ") + column;
    values += (values.empty() ? "" : ", ") + translated(table, column);
    has_run = has_run || column == "run_id";
    has_candidate = has_candidate || column == "candidate_id";
  }
  std::string where = condition;
  if (where.empty()) {
    where = table == "run" ? "t.id IN taken"
            : has_run      ? "t.run_id IN taken"
                           : "t.candidate_id IN (SELECT c.id FROM other.candidate c"
                             " WHERE c.run_id IN taken)";
  }
  const std::string insert =
      condition.empty() ? "INSERT INTO main." : "INSERT OR IGNORE INTO main.";
  db.exec(insert + table + " (" + columns + ") SELECT " + values + " FROM other." + table +
          " t WHERE " + where + " ORDER BY 1");
}

int count(SQLite::Database& db, const std::string& sql) { return db.execAndGet(sql).getInt(); }

/// Lists in the temporary table `busy` the runs of the other database that a process executes, or
/// may execute on another host, and counts them.
MergeCount list_busy(SQLite::Database& db) {
  MergeCount result;
  db.exec("CREATE TEMP TABLE busy (id INTEGER)");
  SQLite::Statement running(db, "SELECT id, owner FROM other.run WHERE status = 'running'");
  while (running.executeStep()) {
    const OwnerState owner = state_of(running.getColumn(1).getString());
    if (owner == OwnerState::kGone) continue;
    ++(owner == OwnerState::kAlive ? result.running : result.on_other_host);
    db.exec("INSERT INTO busy VALUES (" + running.getColumn(0).getString() + ")");
  }
  return result;
}

MergeCount copy_all(SQLite::Database& db) {
  MergeCount result = list_busy(db);
  db.exec(
      "CREATE TEMP TABLE known AS SELECT o.id AS id, m.id AS here,"
      " (SELECT count(*) FROM other.candidate WHERE run_id = o.id) >"
      " (SELECT count(*) FROM main.candidate WHERE run_id = m.id)"
      " OR (o.status = 'finished' AND m.status <> 'finished') AS has_more" +
      std::string(kSameRun));
  db.exec(
      "CREATE TEMP TABLE taken AS SELECT id FROM other.run WHERE id NOT IN busy"
      " AND id NOT IN (SELECT id FROM known WHERE NOT has_more)");
  result.replaced = count(db, "SELECT count(*) FROM known WHERE id IN taken");
  result.known = count(db, "SELECT count(*) FROM known WHERE NOT has_more AND id NOT IN busy");
  result.added = count(db, "SELECT count(*) FROM taken") - result.replaced;
  db.exec("DELETE FROM main.run WHERE id IN (SELECT here FROM known WHERE id IN taken)");
  db.exec(
      "CREATE TEMP TABLE offset AS SELECT"
      " (SELECT coalesce(max(id), 0) FROM main.run) AS run,"
      " (SELECT coalesce(max(id), 0) FROM main.candidate) AS candidate");
  for (const std::string_view table : kShared) copy(db, std::string(table), "true");
  for (const std::string_view table : kOfRuns) copy(db, std::string(table), {});
  return result;
}

}  // namespace

MergeCount merge(Connection& into, const std::filesystem::path& other) {
  SQLite::Database& db = into.database();
  std::error_code missing;
  if (std::filesystem::equivalent(other, db.getFilename(), missing)) {
    throw DbError(other.string() + ": is the database into which runs are copied (--db)");
  }
  // Opens the other database once with a Connection, which checks its version and waits for its
  // writers, because ATTACH does not check the version.
  { const Connection checked(other, Connection::Mode::kReadOnly); }
  SQLite::Statement attach(db, "ATTACH ? AS other");
  attach.bind(1, other.string());
  attach.exec();
  attach.reset();
  const AtEnd detach([&] {
    for (const char* table : {"busy", "known", "taken", "offset"}) {
      db.tryExec("DROP TABLE IF EXISTS temp." + std::string(table));
    }
    db.tryExec("DETACH other");
  });
  return into.write([&] { return copy_all(db); });
}

}  // namespace evo
