#include "db/card_rows.hpp"

#include <nlohmann/json.hpp>

#include "db/connection.hpp"

namespace evo {
namespace {

std::string slowdowns_json(const std::vector<Slowdown>& slowdowns) {
  nlohmann::json names = nlohmann::json::array();
  for (const Slowdown slowdown : slowdowns) names.push_back(to_string(slowdown));
  return names.dump();
}

void remove_rows(Connection& db, std::string_view table, CandidateId candidate) {
  Query query = db.query("DELETE FROM " + std::string(table) + " WHERE candidate_id = ?");
  query.bind(candidate).run();
}

}  // namespace

std::vector<Slowdown> slowdowns_from_json(const std::string& text) {
  std::vector<Slowdown> slowdowns;
  for (const auto& name : nlohmann::json::parse(text)) {
    slowdowns.push_back(slowdown_from_string(name.get<std::string>()));
  }
  return slowdowns;
}

void insert_card_state(Connection& db, CandidateId candidate, const CardState& state) {
  Query query = db.query(
      "INSERT INTO gpu_state (candidate_id, looks, sm_clock_min_mhz, sm_clock_median_mhz,"
      " memory_clock_mhz, temperature_c, power_w, slowdowns, discarded, throttled, others,"
      " busy_before_percent) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  query.bind(candidate).bind(state.looks).bind(state.sm_clock_min_mhz);
  query.bind(state.sm_clock_median_mhz).bind(state.memory_clock_mhz).bind(state.temperature_c);
  query.bind(state.power_w).bind(slowdowns_json(state.slowdowns)).bind(state.discarded);
  query.bind(state.throttled);
  query.bind(
      nlohmann::json(state.others).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  query.bind(state.busy_before_percent).run();
}

void replace_energy(Connection& db, CandidateId candidate, bool complete, const Energy& energy) {
  {
    Query old = db.query("DELETE FROM energy WHERE candidate_id = ? AND complete = ?");
    old.bind(candidate).bind(complete).run();
  }
  Query query = db.query(
      "INSERT INTO energy (candidate_id, complete, launch_mj, power_w, window_s, launches)"
      " VALUES (?,?,?,?,?,?)");
  query.bind(candidate).bind(complete).bind(energy.launch_mj).bind(energy.power_w);
  query.bind(energy.window_s).bind(energy.launches).run();
}

void replace_profile(Connection& db, CandidateId candidate, const ProfileRecord& profile) {
  remove_rows(db, "profile", candidate);
  remove_rows(db, "profile_metric", candidate);
  {
    Query query = db.query(
        "INSERT INTO profile (candidate_id, kind, tool, require, passed) VALUES (?,?,?,?,?)");
    query.bind(candidate).bind(to_string(profile.kind)).bind(profile.tool);
    query.bind(profile.require).bind(profile.passed).run();
  }
  for (const ProfileMetric& metric : profile.metrics) {
    Query query = db.query(
        "INSERT INTO profile_metric (candidate_id, name, metric, value, unit) VALUES (?,?,?,?,?)");
    query.bind(candidate).bind(metric.name).bind(metric.metric);
    query.bind(metric.value).bind(metric.unit).run();
  }
}

std::optional<CardState> read_card_state(Connection& db, CandidateId candidate) {
  Query query = db.query(
      "SELECT looks, sm_clock_min_mhz, sm_clock_median_mhz, memory_clock_mhz, temperature_c,"
      " power_w, slowdowns, discarded, throttled, others, busy_before_percent FROM gpu_state WHERE "
      "candidate_id = ?");
  query.bind(candidate);
  if (!query.next()) return std::nullopt;
  return CardState{.looks = query.small(0),
                   .sm_clock_min_mhz = query.optional_real(1),
                   .sm_clock_median_mhz = query.optional_real(2),
                   .memory_clock_mhz = query.optional_real(3),
                   .temperature_c = query.optional_real(4),
                   .power_w = query.optional_real(5),
                   .slowdowns = slowdowns_from_json(query.text(6)),
                   .discarded = query.integer(7),
                   .throttled = query.integer(8) != 0,
                   .others = nlohmann::json::parse(query.text(9)).get<std::vector<std::string>>(),
                   .busy_before_percent = query.optional_real(10)};
}

std::optional<Energy> read_energy(Connection& db, CandidateId candidate, bool complete) {
  Query query = db.query(
      "SELECT launch_mj, power_w, window_s, launches FROM energy WHERE candidate_id = ? AND "
      "complete = ?");
  query.bind(candidate).bind(complete);
  if (!query.next()) return std::nullopt;
  return Energy{query.real(0), query.real(1), query.real(2), query.integer(3)};
}

std::optional<ProfileRecord> read_profile(Connection& db, CandidateId candidate) {
  ProfileRecord profile;
  {
    Query query =
        db.query("SELECT kind, tool, require, passed FROM profile WHERE candidate_id = ?");
    query.bind(candidate);
    if (!query.next()) return std::nullopt;
    profile.kind = time_kind_from_string(query.text(0));
    profile.tool = query.text(1);
    profile.require = query.text(2);
    profile.passed = query.integer(3) != 0;
  }
  Query query = db.query(
      "SELECT name, metric, value, unit FROM profile_metric WHERE candidate_id = ? ORDER BY name");
  query.bind(candidate);
  while (query.next()) {
    profile.metrics.push_back({query.text(0), query.text(1), query.real(2), query.text(3)});
  }
  return profile;
}

}  // namespace evo
