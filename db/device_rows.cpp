#include "db/device_rows.hpp"

#include "db/connection.hpp"

namespace evo {
namespace {

bool has_table(Connection& db, const char* name) {
  Query query = db.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  query.bind(name);
  return query.next();
}

/// Calls `read` with each row of `sql`, which takes run and shape; not at all without the table.
template <typename Read>
void for_each_row(const Store& store, const StoredRun& run, const char* table, const char* sql,
                  const Read& read) {
  Connection& db = store.connection();
  db.read([&] {
    if (!has_table(db, table)) return false;
    Query query = db.query(sql);
    query.bind(run.id).bind(run.info.shape);
    while (query.next()) read(query);
    return true;
  });
}

}  // namespace

std::vector<CardRow> card_rows(const Store& store, const StoredRun& run) {
  std::vector<CardRow> rows;
  for_each_row(store, run, "card_state",
               "SELECT s.candidate_id, s.sm_clock_min_mhz, s.sm_clock_median_mhz, s.temperature_c,"
               " s.power_w, s.slowdowns, s.discarded, s.throttled, s.others"
               " FROM card_state s JOIN candidate c ON c.id = s.candidate_id"
               " WHERE c.run_id = ? AND s.shape = ? ORDER BY c.generation, c.position",
               [&](const Query& row) {
                 rows.push_back({.candidate = row.integer(0),
                                 .sm_clock_min_mhz = row.optional_real(1),
                                 .sm_clock_median_mhz = row.optional_real(2),
                                 .temperature_c = row.optional_real(3),
                                 .power_w = row.optional_real(4),
                                 .slowdowns_json = row.text(5),
                                 .discarded = row.integer(6),
                                 .throttled = row.integer(7) != 0,
                                 .others_json = row.text(8)});
               });
  return rows;
}

std::vector<EnergyRow> energy_rows(const Store& store, const StoredRun& run) {
  std::vector<EnergyRow> rows;
  for_each_row(store, run, "energy",
               "SELECT e.candidate_id, e.launch_mj, e.power_w, e.window_s, e.complete"
               " FROM energy e JOIN candidate c ON c.id = e.candidate_id"
               " WHERE c.run_id = ? AND e.shape = ?"
               " ORDER BY c.generation, c.position, e.complete",
               [&](const Query& row) {
                 const EnergyRow read = {.candidate = row.integer(0),
                                         .launch_mj = row.real(1),
                                         .power_w = row.real(2),
                                         .window_s = row.real(3),
                                         .complete = row.integer(4) != 0};
                 // That of the longer window comes second.
                 if (!rows.empty() && rows.back().candidate == read.candidate) rows.pop_back();
                 rows.push_back(read);
               });
  return rows;
}

std::vector<ProfileRow> profile_rows(const Store& store, const StoredRun& run) {
  std::vector<ProfileRow> rows;
  for_each_row(
      store, run, "profile",
      "SELECT p.candidate_id, p.kind, p.tool, p.require, p.passed, m.name, m.metric,"
      " m.value, m.unit FROM profile p JOIN candidate c ON c.id = p.candidate_id"
      " LEFT JOIN profile_metric m"
      " ON m.candidate_id = p.candidate_id AND m.shape = p.shape"
      " WHERE c.run_id = ? AND p.shape = ? ORDER BY c.generation, c.position, m.name",
      [&](const Query& row) {
        if (rows.empty() || rows.back().candidate != row.integer(0)) {
          rows.push_back({.candidate = row.integer(0),
                          .kind = row.text(1),
                          .tool = row.text(2),
                          .require = row.text(3),
                          .passed = row.integer(4) != 0});
        }
        if (row.is_null(5)) return;
        rows.back().metrics.push_back({row.text(5), row.text(6), row.real(7), row.text(8)});
      });
  return rows;
}

}  // namespace evo
