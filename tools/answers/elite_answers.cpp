// Tables of evo-elite: elite, milestones, rejections, runs.

#include "tools/answers/elite_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tools/answers/milestones.hpp"
#include "tools/answers/or_null.hpp"
#include "tools/answers/outcome.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

/// The macros of a configuration for which wanted(name, value) is true, as text: "TILE=64
/// SWIZZLE=xor".
template <typename Wanted>
std::string macros(const Json& config, const Wanted& wanted) {
  std::string text;
  for (const auto& [name, value] : config.items()) {
    if (!wanted(name, value)) continue;
    text += (text.empty() ? "" : " ") + name + "=" +
            (value.is_string() ? value.template get<std::string>() : value.dump());
  }
  return text;
}

std::string common_note(const SplitConfigs& configs) {
  return configs.common.empty() ? "" : "in common: " + configs.common + "\n";
}

/// The objective as text: ", objective energy"; empty if the objective is the time.
std::string objective_of(const RunInfo& info) {
  const std::string objective =
      Json::parse(info.options_json).value("objective", std::string("time"));
  return objective == "time" ? "" : ", objective " + objective;
}

std::string about(const StoredRun& run) {
  const RunInfo& info = run.info;
  return "run " + std::to_string(run.id) + " (" + std::string(to_string(run.status)) +
         "): " + info.space.name + " on " + info.device.name + ", shape " + info.shape + ", " +
         kind_label(info.device) + objective_of(info);
}

/// The heading of a column of times: "p50 us", or "p50 us predicted" for predicted times.
std::string time_heading(const std::string& heading, TimeKind kind) {
  return kind == TimeKind::kMeasured ? heading : heading + " predicted";
}

/// The text of the column "times" of `evo-elite runs`.
std::string times_word(const DeviceInfo& device) {
  return device.id == "none" ? "none" : std::string(to_string(device.time_kind));
}

/// The resource policy of a space: "registers_per_thread 120, spill_bytes 0".
std::string policy_text(const std::string& space_text) {
  const Json space = Json::parse(space_text, nullptr, false, true);
  if (!space.is_object() || !space.contains("resources")) return {};
  std::string text;
  for (const auto& [name, value] : space["resources"].items()) {
    text += (text.empty() ? "" : ", ") + name + " " + value.dump();
  }
  return text;
}

/// Lines that say how the winner was chosen; empty if the order of the times shows that.
std::string order_note(const RunElite& elite) {
  if (elite.rows.empty()) return {};
  if (!elite.is_compared) {
    const bool is_open = elite.run.status == RunStatus::kRunning;
    return std::string(is_open ? "the run has not compared kernels with each other yet"
                               : "the run ended before it compared kernels with each other") +
           ": this table is sorted by separately measured times\n";
  }
  std::string ties;
  for (std::size_t i = 1; i < elite.rows.size(); ++i) {
    if (!elite.rows[i].tie) continue;
    const Tie& tie = *elite.rows[i].tie;
    ties += fmt::format(
        "  candidate {} takes {:.3f} times as long as candidate {} ({:.3f} to {:.3f})\n",
        elite.rows[i].candidate, tie.ratio, elite.rows[i - 1].candidate, tie.ratio_low,
        tie.ratio_high);
  }
  if (ties.empty()) return {};
  return "= marks a tie: A/B pairs show no certain difference above 0.4 %.\n"
         "The first row is the winner: no other kernel beat it. Ratios, with confidence "
         "intervals:\n" +
         ties;
}

}  // namespace

SplitConfigs split_configs(const std::vector<Json>& configs) {
  const auto same = [&](const std::string& name, const Json& value) {
    for (const Json& other : configs) {
      if (!other.contains(name) || other[name] != value) return false;
    }
    return configs.size() > 1;
  };
  SplitConfigs result;
  if (!configs.empty()) result.common = macros(configs[0], same);
  for (const Json& config : configs) {
    result.each.push_back(macros(
        config, [&](const std::string& name, const Json& value) { return !same(name, value); }));
  }
  return result;
}

std::string kind_label(const DeviceInfo& device) {
  if (device.id == "none") return "nothing was run";
  return device.time_kind == TimeKind::kMeasured ? "measured times"
                                                 : "PREDICTED times, nothing was measured";
}

Answer elite_answer(const RunElite& elite) {
  const TimeKind kind = elite.run.info.device.time_kind;
  const bool has_energy = std::ranges::any_of(
      elite.rows, [](const EliteRow& row) { return row.launch_mj.has_value(); });
  Answer answer{.title = "elite of " + about(elite.run),
                .table = {.columns = {{"rank", ""},
                                      {"", "rank"},
                                      {"run", ""},
                                      {"space", ""},
                                      {"device", ""},
                                      {"shape", ""},
                                      {"p50_us", time_heading("p50 us", kind), 2},
                                      {"p90_us", "p90 us", 2},
                                      {"tflops", "TFLOP/s", 1},
                                      {"launch_mj", has_energy ? "mJ" : "", 3},
                                      {"registers", "regs"},
                                      {"shared_bytes", "shared B"},
                                      {"max_abs_error", "max abs err", -1},
                                      {"kind", "kind", 0, true},
                                      {"candidate", "candidate"},
                                      {"tied_with", ""},
                                      {"config", "", 0, true},
                                      {"", "configuration", 0, true}}}};
  std::vector<Json> configs;
  for (const EliteRow& row : elite.rows) configs.push_back(Json::parse(row.config_json));
  const SplitConfigs texts = split_configs(configs);
  const std::vector<std::string> labels = rank_labels(elite.rows);
  for (std::size_t i = 0; i < elite.rows.size(); ++i) {
    const EliteRow& row = elite.rows[i];
    const Json tied_with = row.tie ? Json(elite.rows[i - 1].candidate) : Json();
    answer.table.rows.push_back(
        {row.rank, labels[i], row.run, elite.run.info.space.name, row.device, row.shape, row.p50_us,
         row.p90_us, row.tflops > 0 ? Json(row.tflops) : Json(), or_null(row.launch_mj),
         row.registers, row.shared_bytes, or_null(row.max_abs_error), to_string(row.kind),
         row.candidate, tied_with, configs[i], texts.each[i]});
  }
  answer.notes = common_note(texts) + order_note(elite);
  if (kind == TimeKind::kPredicted && !elite.rows.empty()) {
    answer.notes +=
        "a model with errors predicts these times: "
        "time the best few kernels on a GPU to choose one\n";
  }
  for (const EliteRow& row : elite.rows) {
    if (row.not_modelled.empty()) continue;
    answer.notes += fmt::format("the predicted time of candidate {} does not model: {}\n",
                                row.candidate, row.not_modelled);
  }
  if (!elite.interpreted.empty()) answer.notes += elite.interpreted + "\n";
  if (elite.rows.empty())
    answer.notes = "no kernel is green in this run; see evo-elite rejections\n";
  return answer;
}

std::string vendor_line(const std::vector<VendorTime>& fastest_first) {
  if (fastest_first.empty()) return {};
  const VendorTime& time = fastest_first.front();
  return fmt::format(
      "{} with {} inputs takes {:.2f} µs: "
      "{:.2f} times as long as candidate {} ({:.2f} to {:.2f}), timed in turn\n",
      time.name, time.starts_from, time.p50_us, time.ratio, time.candidate, time.ratio_low,
      time.ratio_high);
}

Answer milestones_answer(const StoredRun& run, const std::vector<MilestoneResult>& results) {
  const TimeKind kind = run.info.device.time_kind;
  Answer answer{.title = "milestones of " + about(run),
                .table = {.columns = {{"milestone", "milestone", 0, true},
                                      {"outcome", "outcome", 0, true},
                                      {"p50_us", time_heading("p50 us", kind), 2},
                                      {"speedup", "speed-up", 3},
                                      {"kind", "kind", 0, true},
                                      {"candidate", "candidate"},
                                      {"duplicate_of", "same kernel as"},
                                      {"gate", "", 0, true},
                                      {"reason", "why not", 0, true},
                                      {"config", "", 0, true}}}};
  for (const MilestoneResult& result : results) {
    const EvaluationRecord& its = result.evaluation;
    const Rejection* why = failure_of(its);
    const Json gate = why ? Json(std::string(to_string(why->gate))) : Json();
    std::string outcome(outcome_word(its));
    if (outcome == "rejected") outcome = "failed " + gate.get<std::string>();
    answer.table.rows.push_back({its.milestone, outcome, or_null(result.p50_us),
                                 or_null(result.speedup), std::string(to_string(kind)), its.id,
                                 or_null(its.duplicate_of), gate, why ? Json(why->reason) : Json(),
                                 Json::parse(its.config_json)});
  }
  if (results.empty()) {
    answer.notes = "this run's space has no milestones\n";
    return answer;
  }
  answer.notes =
      "speed-up: time of the previous green milestone / time of this milestone; "
      "above 1 is faster\n";
  const std::vector<bool> builds = builds_on_before(results);
  const auto first = std::ranges::find(builds, false);
  if (first != builds.end()) {
    answer.notes += fmt::format(
        "from \"{}\" on, some milestones lack changes of the previous milestone, "
        "so these milestones are separate configurations\n",
        results[static_cast<std::size_t>(first - builds.begin())].evaluation.milestone);
  }
  return answer;
}

Answer rejections_answer(const StoredRun& run, const RejectionSummary& summary) {
  Answer answer{.title = "rejections of " + about(run),
                .table = {.columns = {{"gate", "gate", 0, true},
                                      {"count", "count"},
                                      {"policy_only", "", 0, true},
                                      {"", "policy only", 0, true},
                                      {"candidate", "first"},
                                      {"reason", "reason of the first", 0, true}}}};
  for (const RejectionGroup& group : summary.groups) {
    answer.table.rows.push_back({to_string(group.gate), group.count, group.policy_only,
                                 group.policy_only ? "yes" : "no", group.candidate, group.reason});
  }
  std::ostringstream notes;
  notes << summary.evaluated << " evaluated: " << summary.green << " green, " << summary.rejected
        << " rejected, " << summary.duplicates << " with the kernel of an earlier candidate";
  if (summary.withdrawn > 0) {
    notes << ", " << summary.withdrawn << " withdrawn: green, and failed later";
    if (const std::optional<Rejection>& why = summary.withdrawal) {
      notes << ", the first at the " << to_string(why->gate) << " gate: " << why->reason;
    }
  }
  notes << '\n';
  if (summary.policy_only > 0) {
    notes << summary.policy_only
          << (summary.policy_only == 1 ? " candidate was" : " candidates were")
          << " rejected only by policy (" << policy_text(run.info.space.text)
          << "); the device could run them\n";
  }
  answer.notes = notes.str();
  return answer;
}

Answer runs_answer(const std::vector<StoredRun>& runs) {
  Answer answer{.title = "runs",
                .table = {.columns = {{"run", "run"},
                                      {"status", "status", 0, true},
                                      {"started_at", "started (UTC)", 0, true},
                                      {"space", "space", 0, true},
                                      {"device", "device", 0, true},
                                      {"kind", "times", 0, true},
                                      {"shape", "shape", 0, true},
                                      {"strategy", "strategy", 0, true},
                                      {"seed", "seed"},
                                      {"generations", "generations"},
                                      {"evaluated", "evaluated"}}}};
  for (const StoredRun& run : runs) {
    const RunInfo& info = run.info;
    answer.table.rows.push_back(
        {run.id, to_string(run.status), run.started_at, info.space.name, info.device.name,
         times_word(info.device), info.shape, info.strategy, info.seed,
         run.last_generation ? *run.last_generation + 1 : 0, run.evaluated});
  }
  return answer;
}

}  // namespace evo
