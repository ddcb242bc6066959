#include "db/queries.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "db/connection.hpp"
#include "db/gpu_rows.hpp"
#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/core/suggestion.hpp"

namespace evo {
namespace {

bool passes(const StoredRun& run, const RunFilter& filter) {
  const DeviceInfo& device = run.info.device;
  const bool device_fits =
      filter.device.empty() || device.id == filter.device ||
      lower_case(device.name).find(lower_case(filter.device)) != std::string::npos;
  return device_fits && (filter.shape.empty() || run.info.shape == filter.shape) &&
         (!filter.run || run.id == *filter.run);
}

[[noreturn]] void refuse(const char* kind, const std::string& wanted,
                         const std::set<std::string>& known) {
  throw InputError(unknown_name(kind, wanted, {known.begin(), known.end()}));
}

/// Throws InputError if no run has the filter's shape, or no run has its device.
void require_known_names(const std::vector<StoredRun>& runs, const RunFilter& filter) {
  const auto none_passes = [&](const RunFilter& alone) {
    return std::ranges::none_of(runs, [&](const StoredRun& run) { return passes(run, alone); });
  };
  std::set<std::string> shapes;
  std::set<std::string> devices;
  for (const StoredRun& run : runs) {
    shapes.insert(run.info.shape);
    devices.insert({run.info.device.id, run.info.device.name});
  }
  if (runs.empty()) return;
  if (none_passes({.shape = filter.shape})) refuse("shape", filter.shape, shapes);
  if (none_passes({.device = filter.device})) refuse("device", filter.device, devices);
}

EliteRow read_elite_row(Query& of) {
  EliteRow row;
  of.read(row.rank, row.run, row.device, row.shape, row.p50_us, row.p90_us, row.tflops,
          row.registers, row.shared_bytes, row.max_abs_error, row.config_json, row.kind,
          row.candidate, row.launch_mj, row.not_modelled);
  return row;
}

void count_outcomes(Connection& db, RunId run, RejectionSummary& summary) {
  Query query = db.query(
      "SELECT count(*), count(duplicate_of),"
      " count(*) FILTER (WHERE duplicate_of IS NULL AND outcome = 'green'),"
      " count(*) FILTER (WHERE duplicate_of IS NULL AND outcome = 'rejected'),"
      " count(*) FILTER (WHERE duplicate_of IS NULL AND policy_only = 1),"
      " count(*) FILTER (WHERE duplicate_of IS NULL AND outcome = 'withdrawn')"
      " FROM evaluation WHERE run = ?",
      run);
  if (!query.next()) return;
  query.read(summary.evaluated, summary.duplicates, summary.green, summary.rejected,
             summary.policy_only, summary.withdrawn);
}

std::vector<RejectionGroup> group_rejections(Connection& db, RunId run) {
  Query query = db.query(
      "SELECT c.id, x.gate, x.reason, x.policy_only FROM candidate c"
      " JOIN rejection x ON x.candidate_id = c.id WHERE c.run_id = ?"
      " ORDER BY c.generation, c.position",
      run);
  std::map<std::tuple<Gate, bool, std::string>, RejectionGroup> groups;
  while (query.next()) {
    RejectionGroup one;
    query.read(one.candidate, one.gate, one.reason, one.policy_only);
    auto key = std::tuple(one.gate, one.policy_only, reason_pattern(one.reason));
    ++groups.try_emplace(std::move(key), std::move(one)).first->second.count;
  }
  std::vector<RejectionGroup> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.gate, -a.count) < std::pair(b.gate, -b.count);
  });
  return sorted;
}

/// Sets `tie` of each row whose newest comparison with the row above it ended in a tie.
void put_ties(const Store& store, RunId run, std::vector<EliteRow>& rows) {
  const std::vector<ComparisonRecord> records = store.comparisons(run);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (const ComparisonRecord& its : records) {
      const bool is_forward =
          its.challenger == rows[i].candidate && its.incumbent == rows[i - 1].candidate;
      const bool is_backward =
          its.incumbent == rows[i].candidate && its.challenger == rows[i - 1].candidate;
      if (!is_forward && !is_backward) continue;
      rows[i].tie.reset();
      if (its.verdict != Verdict::kTie) continue;
      rows[i].tie = is_forward ? Tie{its.ratio, its.ratio_low, its.ratio_high}
                               : Tie{1 / its.ratio, 1 / its.ratio_high, 1 / its.ratio_low};
    }
  }
}

}  // namespace

std::vector<StoredRun> select_runs(const Store& store, const RunFilter& filter) {
  std::vector<StoredRun> runs = filter.run ? std::vector{store.run(*filter.run)} : store.runs();
  require_known_names(runs, filter);
  std::erase_if(runs, [&](const StoredRun& run) { return !passes(run, filter); });
  return runs;
}

std::string why_no_elite(const std::vector<StoredRun>& runs) {
  const std::string where =
      runs.size() == 1 ? "run " + std::to_string(runs.front().id) : "any matching run";
  const bool are_recordings = !runs.empty() && std::ranges::all_of(runs, [](const StoredRun& run) {
    return is_recording(run.info);
  });
  if (!are_recordings) return "no kernel is green in " + where;
  return (runs.size() == 1 ? where + " is a recording" : "all matching runs are recordings") +
         " of evo-record, which keeps no elite";
}

std::vector<std::string> rank_labels(const std::vector<EliteRow>& rows) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t first = i;
    while (first > 0 && rows[first].tie) --first;
    const bool has_equal = first < i || (i + 1 < rows.size() && rows[i + 1].tie);
    labels.push_back(std::to_string(rows[first].rank) + (has_equal ? "=" : ""));
  }
  return labels;
}

std::vector<EliteRow> elite_of_run(const Store& store, RunId run) {
  Connection& db = store.connection();
  std::vector<EliteRow> elite = db.read([&] {
    return db
        .query(
            "SELECT e.rank, e.run, e.device, e.shape, e.p50_us, e.p90_us, e.tflops, e.registers,"
            " e.shared_bytes, e.max_abs_error, e.config, e.kind, e.candidate, n.launch_mj,"
            " t.not_modelled FROM elite e JOIN timing t ON t.candidate_id = e.candidate"
            " LEFT JOIN energy n ON n.candidate_id = e.candidate AND n.complete"
            " WHERE e.run = ? ORDER BY e.rank",
            run)
        .all(read_elite_row);
  });
  put_ties(store, run, elite);
  return elite;
}

RunElite run_elite(const Store& store, RunId run) {
  RunElite elite{.run = store.run(run), .rows = elite_of_run(store, run)};
  elite.is_compared = !store.generations(run).empty();
  for (const StoredEvent& event : store.events(run)) {
    if (event.kind == kInterpretedEvent) elite.interpreted = event.text;
  }
  return elite;
}

std::vector<RunElite> elites(const Store& store, const RunFilter& filter) {
  std::vector<RunElite> found;
  std::set<std::tuple<std::string, std::string, std::string, std::string, TimeKind>> seen;
  std::vector<StoredRun> newest_first = select_runs(store, filter);
  std::reverse(newest_first.begin(), newest_first.end());
  for (const StoredRun& run : newest_first) {
    const RunInfo& info = run.info;
    const std::tuple group(info.problem.name, info.space.name, info.device.name, info.shape,
                           info.device.time_kind);
    if (seen.contains(group)) continue;
    RunElite elite = run_elite(store, run.id);
    if (elite.rows.empty() && !filter.run) continue;
    seen.insert(group);
    found.push_back(std::move(elite));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<MilestoneResult> milestone_results(const Store& store, RunId run) {
  std::vector<MilestoneResult> results;
  std::optional<double> previous_us;
  store.for_each_evaluation(run, [&](EvaluationRecord evaluation) {
    if (evaluation.milestone.empty()) return;
    MilestoneResult result{.evaluation = std::move(evaluation)};
    const EvaluationRecord& its = result.evaluation;
    if (!its.rejection && !its.withdrawal && its.timing) {
      result.p50_us = its.timing->p50_us;
      if (previous_us) result.speedup = *previous_us / *result.p50_us;
      previous_us = result.p50_us;
    }
    results.push_back(std::move(result));
  });
  return results;
}

RejectionSummary rejections(const Store& store, RunId run) {
  Connection& db = store.connection();
  const std::vector<WithdrawalRecord> withdrawals = store.withdrawals(run);
  return db.read([&] {
    RejectionSummary summary;
    count_outcomes(db, run, summary);
    summary.groups = group_rejections(db, run);
    if (!withdrawals.empty()) summary.withdrawal = withdrawals.front().why;
    return summary;
  });
}

std::vector<ComparisonRecord> comparisons_between(const Store& store, CandidateId a,
                                                  CandidateId b) {
  std::vector<ComparisonRecord> records = store.comparisons(store.evaluation(a).run);
  std::erase_if(records, [&](const ComparisonRecord& record) {
    return std::minmax(record.challenger, record.incumbent) != std::minmax(a, b);
  });
  return records;
}

std::string reason_pattern(std::string_view reason) {
  const auto digit = [&](std::size_t at) {
    return at < reason.size() && std::isdigit(static_cast<unsigned char>(reason[at])) != 0;
  };
  std::string pattern;
  std::size_t at = 0;
  while (at < reason.size()) {
    if (!digit(at)) {
      pattern += reason[at++];
      continue;
    }
    pattern += '#';
    // A number such as 1234, 1.5, 1,024 or 2e-4 becomes a single '#'.
    for (bool more = true; more;) {
      while (digit(at)) ++at;
      const char next = at < reason.size() ? reason[at] : ' ';
      const bool point = (next == '.' || next == ',') && digit(at + 1);
      const bool exponent = next == 'e' && at + 1 < reason.size() &&
                            (reason[at + 1] == '-' || reason[at + 1] == '+') && digit(at + 2);
      at += point ? 1 : (exponent ? 2 : 0);
      more = point || exponent;
    }
  }
  return pattern;
}

GpuSummary gpu_summary(const Store& store, RunId run) {
  Connection& db = store.connection();
  GpuSummary summary;
  for (const GpuState& state : db.read([&] { return gpu_states(db, run); })) {
    ++summary.timings;
    summary.discarded += state.discarded;
    summary.throttled += state.throttled ? 1 : 0;
    summary.shared += state.others.empty() ? 0 : 1;
    for (const Slowdown slowdown : state.slowdowns) ++summary.slowdowns[slowdown];
    for (const std::string& other : state.others) ++summary.others[other];
    summary.busy_before_percent =
        std::max(summary.busy_before_percent, state.busy_before_percent.value_or(0));
    if (!state.sm_clock_min_mhz) continue;
    const double clock = *state.sm_clock_min_mhz;
    summary.sm_clock_min_mhz = std::min(summary.sm_clock_min_mhz.value_or(clock), clock);
    summary.sm_clock_max_mhz = std::max(summary.sm_clock_max_mhz.value_or(clock), clock);
  }
  return summary;
}

}  // namespace evo
