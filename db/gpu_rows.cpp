#include "db/gpu_rows.hpp"

#include <nlohmann/json.hpp>

#include "db/connection.hpp"

namespace evo {
namespace {

constexpr std::string_view kStateColumns =
    "SELECT looks, sm_clock_min_mhz, sm_clock_median_mhz, memory_clock_mhz, temperature_c,"
    " power_w, slowdowns, discarded, throttled, others, busy_before_percent FROM gpu_state ";

/// Writes a JSON list as text. Replaces invalid UTF-8, because process names may contain any bytes.
std::string text_of(const nlohmann::json& list) {
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string slowdowns_text(const std::vector<Slowdown>& slowdowns) {
  nlohmann::json names = nlohmann::json::array();
  for (const Slowdown slowdown : slowdowns) names.push_back(to_string(slowdown));
  return text_of(names);
}

GpuState read_state(Query& row) {
  GpuState state;
  std::string slowdowns, others;
  row.read(state.looks, state.sm_clock_min_mhz, state.sm_clock_median_mhz, state.memory_clock_mhz,
           state.temperature_c, state.power_w, slowdowns, state.discarded, state.throttled, others,
           state.busy_before_percent);
  for (const std::string name : nlohmann::json::parse(slowdowns)) {
    state.slowdowns.push_back(slowdown_from_string(name));
  }
  state.others = nlohmann::json::parse(others);
  return state;
}

}  // namespace

void insert_gpu_state(Connection& db, CandidateId candidate, const GpuState& state) {
  db.run(
      "INSERT INTO gpu_state (candidate_id, looks, sm_clock_min_mhz, sm_clock_median_mhz,"
      " memory_clock_mhz, temperature_c, power_w, slowdowns, discarded, throttled, others,"
      " busy_before_percent) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
      candidate, state.looks, state.sm_clock_min_mhz, state.sm_clock_median_mhz,
      state.memory_clock_mhz, state.temperature_c, state.power_w, slowdowns_text(state.slowdowns),
      state.discarded, state.throttled, text_of(state.others), state.busy_before_percent);
}

void replace_energy(Connection& db, CandidateId candidate, bool complete, const Energy& energy) {
  db.run(
      "INSERT OR REPLACE INTO energy (candidate_id, complete, launch_mj, power_w, window_s,"
      " launches) VALUES (?,?,?,?,?,?)",
      candidate, complete, energy.launch_mj, energy.power_w, energy.window_s, energy.launches);
}

void replace_profile(Connection& db, CandidateId candidate, const ProfileRecord& profile) {
  db.run(
      "INSERT OR REPLACE INTO profile (candidate_id, kind, tool, require, passed)"
      " VALUES (?,?,?,?,?)",
      candidate, profile.kind, profile.tool, profile.require, profile.passed);
  db.run("DELETE FROM profile_metric WHERE candidate_id = ?", candidate);
  for (const ProfileMetric& metric : profile.metrics) {
    db.run(
        "INSERT INTO profile_metric (candidate_id, name, metric, value, unit) VALUES (?,?,?,?,?)",
        candidate, metric.name, metric.metric, metric.value, metric.unit);
  }
}

std::optional<GpuState> find_gpu_state(Connection& db, CandidateId candidate) {
  static const std::string sql = std::string(kStateColumns) + "WHERE candidate_id = ?";
  Query row = db.query(sql, candidate);
  return row.next() ? std::optional(read_state(row)) : std::nullopt;
}

std::vector<GpuState> gpu_states(Connection& db, RunId run) {
  static const std::string sql =
      std::string(kStateColumns) +
      "JOIN candidate c ON c.id = candidate_id WHERE c.run_id = ? ORDER BY c.id";
  return db.query(sql, run).all(read_state);
}

std::optional<Energy> find_energy(Connection& db, CandidateId candidate, bool complete) {
  Query row = db.query(
      "SELECT launch_mj, power_w, window_s, launches FROM energy"
      " WHERE candidate_id = ? AND complete = ?",
      candidate, complete);
  if (!row.next()) return std::nullopt;
  Energy energy;
  row.read(energy.launch_mj, energy.power_w, energy.window_s, energy.launches);
  return energy;
}

std::optional<ProfileRecord> find_profile(Connection& db, CandidateId candidate) {
  Query row =
      db.query("SELECT kind, tool, require, passed FROM profile WHERE candidate_id = ?", candidate);
  if (!row.next()) return std::nullopt;
  ProfileRecord profile;
  row.read(profile.kind, profile.tool, profile.require, profile.passed);
  const auto read_metric = [](Query& of) {
    ProfileMetric metric;
    of.read(metric.name, metric.metric, metric.value, metric.unit);
    return metric;
  };
  profile.metrics = db.query(
                          "SELECT name, metric, value, unit FROM profile_metric"
                          " WHERE candidate_id = ? ORDER BY name",
                          candidate)
                        .all(read_metric);
  return profile;
}

}  // namespace evo
