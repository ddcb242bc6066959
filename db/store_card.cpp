// Store: the card while kernels were timed, energy, profiles.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "db/card_rows.hpp"
#include "db/connection.hpp"
#include "db/queries.hpp"
#include "db/seal.hpp"
#include "db/store.hpp"

namespace evo {
namespace {

constexpr std::string_view kRunsShape =
    "(SELECT r.shape FROM candidate c JOIN run r ON r.id = c.run_id WHERE c.id = ?)";

std::string slowdowns_json(const std::vector<Slowdown>& slowdowns) {
  nlohmann::json names = nlohmann::json::array();
  for (const Slowdown slowdown : slowdowns) names.push_back(to_string(slowdown));
  return names.dump();
}

std::vector<Slowdown> slowdowns_from_json(const std::string& text) {
  std::vector<Slowdown> slowdowns;
  for (const auto& name : nlohmann::json::parse(text)) {
    slowdowns.push_back(slowdown_from_string(name.get<std::string>()));
  }
  return slowdowns;
}

void remove_rows(Connection& db, std::string_view table, CandidateId candidate) {
  Query query = db.query("DELETE FROM " + std::string(table) + " WHERE candidate_id = ?");
  query.bind(candidate).run();
}

/// `write` beside a green candidate, whose seal then covers it.
template <typename Write>
void write_beside(Connection& db, CandidateId candidate, const Write& write) {
  db.write([&] {
    const Sealed evaluation{Sealed::Kind::kEvaluation, candidate};
    require_intact(db, evaluation);
    {
      Query query = db.query("SELECT 1 FROM timing WHERE candidate_id = ?");
      query.bind(candidate);
      if (!query.next()) {
        db.fail("candidate " + std::to_string(candidate) + " has no timing of its own");
      }
    }
    write();
    seal_again(db, evaluation);
  });
}

}  // namespace

void insert_card_state(Connection& db, CandidateId candidate, const CardState& state) {
  Query query = db.query(
      "INSERT INTO card_state (candidate_id, shape, looks, sm_clock_min_mhz, sm_clock_median_mhz,"
      " memory_clock_mhz, temperature_c, power_w, slowdowns, discarded, throttled, others,"
      " busy_before_percent) VALUES (?," +
      std::string(kRunsShape) + ",?,?,?,?,?,?,?,?,?,?,?)");
  query.bind(candidate).bind(candidate).bind(state.looks).bind(state.sm_clock_min_mhz);
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
      "INSERT INTO energy (candidate_id, shape, complete, launch_mj, power_w, window_s, launches)"
      " VALUES (?," +
      std::string(kRunsShape) + ",?,?,?,?,?)");
  query.bind(candidate).bind(candidate).bind(complete).bind(energy.launch_mj).bind(energy.power_w);
  query.bind(energy.window_s).bind(energy.launches).run();
}

void replace_profile(Connection& db, CandidateId candidate, const ProfileRecord& profile) {
  remove_rows(db, "profile", candidate);
  remove_rows(db, "profile_metric", candidate);
  {
    Query query = db.query(
        "INSERT INTO profile (candidate_id, shape, kind, tool, require, passed) VALUES (?," +
        std::string(kRunsShape) + ",?,?,?,?)");
    query.bind(candidate).bind(candidate).bind(to_string(profile.kind)).bind(profile.tool);
    query.bind(profile.require).bind(profile.passed).run();
  }
  for (const ProfileMetric& metric : profile.metrics) {
    Query query = db.query(
        "INSERT INTO profile_metric (candidate_id, shape, name, metric, value, unit) VALUES (?," +
        std::string(kRunsShape) + ",?,?,?,?)");
    query.bind(candidate).bind(candidate).bind(metric.name).bind(metric.metric);
    query.bind(metric.value).bind(metric.unit).run();
  }
}

std::optional<CardState> read_card_state(Connection& db, CandidateId candidate) {
  if (db.version() < kFirstWithCardState) return std::nullopt;
  Query query = db.query(
      "SELECT looks, sm_clock_min_mhz, sm_clock_median_mhz, memory_clock_mhz, temperature_c,"
      " power_w, slowdowns, discarded, throttled, others, busy_before_percent FROM card_state k"
      " JOIN candidate c ON c.id = k.candidate_id JOIN run r ON r.id = c.run_id"
      " AND r.shape = k.shape WHERE k.candidate_id = ?");
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
  if (db.version() < kFirstWithCardState) return std::nullopt;
  Query query = db.query(
      "SELECT launch_mj, power_w, window_s, launches FROM energy k"
      " JOIN candidate c ON c.id = k.candidate_id JOIN run r ON r.id = c.run_id"
      " AND r.shape = k.shape WHERE k.candidate_id = ? AND k.complete = ?");
  query.bind(candidate).bind(complete);
  if (!query.next()) return std::nullopt;
  return Energy{query.real(0), query.real(1), query.real(2), query.integer(3)};
}

std::optional<ProfileRecord> read_profile(Connection& db, CandidateId candidate) {
  if (db.version() < kFirstWithCardState) return std::nullopt;
  ProfileRecord profile;
  {
    Query query = db.query(
        "SELECT kind, tool, require, passed FROM profile k"
        " JOIN candidate c ON c.id = k.candidate_id JOIN run r ON r.id = c.run_id"
        " AND r.shape = k.shape WHERE k.candidate_id = ?");
    query.bind(candidate);
    if (!query.next()) return std::nullopt;
    profile.kind = time_kind_from_string(query.text(0));
    profile.tool = query.text(1);
    profile.require = query.text(2);
    profile.passed = query.integer(3) != 0;
  }
  Query query = db.query(
      "SELECT name, metric, value, unit FROM profile_metric k"
      " JOIN candidate c ON c.id = k.candidate_id JOIN run r ON r.id = c.run_id"
      " AND r.shape = k.shape WHERE k.candidate_id = ? ORDER BY name");
  query.bind(candidate);
  while (query.next()) {
    profile.metrics.push_back({query.text(0), query.text(1), query.real(2), query.text(3)});
  }
  return profile;
}

void Store::record_energy(CandidateId candidate, const Energy& energy) {
  write_beside(*connection_, candidate,
               [&] { replace_energy(*connection_, candidate, true, energy); });
}

void Store::record_profile(CandidateId candidate, const ProfileRecord& profile) {
  write_beside(*connection_, candidate, [&] { replace_profile(*connection_, candidate, profile); });
}

CardSummary card_summary(const Store& store, RunId run) {
  Connection& db = store.connection();
  if (db.version() < kFirstWithCardState) return {};
  return db.read([&] {
    CardSummary summary;
    Query query = db.query(
        "SELECT k.slowdowns, k.discarded, k.throttled, k.others, k.busy_before_percent,"
        " k.sm_clock_min_mhz FROM card_state k JOIN candidate c ON c.id = k.candidate_id"
        " WHERE c.run_id = ? ORDER BY c.id");
    query.bind(run);
    while (query.next()) {
      ++summary.timings;
      summary.discarded += query.integer(1);
      if (query.integer(2) != 0) ++summary.throttled;
      for (const Slowdown slowdown : slowdowns_from_json(query.text(0))) {
        ++summary.slowdowns[slowdown];
      }
      const auto others = nlohmann::json::parse(query.text(3)).get<std::vector<std::string>>();
      if (!others.empty()) ++summary.shared;
      for (const std::string& other : others) ++summary.others[other];
      const auto busy = query.optional_real(4);
      if (busy) summary.busy_before_percent = std::max(summary.busy_before_percent, *busy);
      const auto clock = query.optional_real(5);
      if (!clock) continue;
      summary.sm_clock_min_mhz = std::min(summary.sm_clock_min_mhz.value_or(*clock), *clock);
      summary.sm_clock_max_mhz = std::max(summary.sm_clock_max_mhz.value_or(*clock), *clock);
    }
    return summary;
  });
}

}  // namespace evo
