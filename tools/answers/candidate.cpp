// The output of `evo-elite show` and `evo-elite compare`.

#include <cmath>
#include <sstream>

#include "tools/answers/checks_json.hpp"
#include "tools/answers/elite_answers.hpp"
#include "tools/answers/or_null.hpp"
#include "tools/answers/outcome.hpp"
#include "tools/answers/profile_json.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

/// A stored candidate, its run, and the facts of its compilation.
struct Found {
  EvaluationRecord evaluation;
  StoredRun run;
  std::optional<CompilationFacts> compilation = {};
};

Found find(const Store& store, CandidateId candidate) {
  Found found{.evaluation = store.evaluation(candidate), .run = {}};
  found.run = store.run(found.evaluation.run);
  if (found.evaluation.compilation) {
    found.compilation = store.compilation_facts(*found.evaluation.compilation);
  }
  return found;
}

std::string outcome(const Found& found) {
  const EvaluationRecord& record = found.evaluation;
  std::string text(outcome_word(record));
  if (record.rejection) text += " at " + std::string(to_string(record.rejection->gate));
  if (const std::optional<Rejection>& why = record.withdrawal) {
    text += ": was green, and then failed " + std::string(to_string(why->gate));
  }
  if (record.duplicate_of) text += ", same kernel as " + std::to_string(*record.duplicate_of);
  return text;
}

Json timing_json(const EvaluationRecord& record) {
  if (!record.timing) return {};
  const Timing& timing = *record.timing;
  return {{"kind", to_string(timing.kind)},
          {"p50_us", timing.p50_us},
          {"p90_us", timing.p90_us},
          {"p99_us", timing.p99_us},
          {"mean_us", timing.mean_us},
          {"std_us", timing.std_us},
          {"cv", timing.cv},
          {"samples", timing.samples},
          {"complete", timing.complete}};
}

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

/// The state of the GPU during the timing; null if the driver did not report it.
Json gpu_json(const EvaluationRecord& record) {
  if (!record.gpu) return {};
  const GpuState& gpu = *record.gpu;
  Json json;
  put(json, "sm_clock_median_mhz", gpu.sm_clock_median_mhz);
  put(json, "sm_clock_min_mhz", gpu.sm_clock_min_mhz);
  put(json, "memory_clock_mhz", gpu.memory_clock_mhz);
  put(json, "temperature_c", gpu.temperature_c);
  put(json, "power_w", gpu.power_w);
  json["slowdowns"] = Json::array();
  for (const Slowdown slowdown : gpu.slowdowns) json["slowdowns"].push_back(to_string(slowdown));
  json["discarded_samples"] = gpu.discarded;
  json["throttled"] = gpu.throttled;
  json["other_processes"] = gpu.others;
  put(json, "busy_before_percent", gpu.busy_before_percent);
  return json;
}

/// The energy from the long measurement if there is one, otherwise from the short measurement.
Json energy_json(const EvaluationRecord& evaluation) {
  const std::optional<Energy>& energy =
      evaluation.elite_energy ? evaluation.elite_energy : evaluation.energy;
  if (!energy) return {};
  return {{"launch_mj", energy->launch_mj},
          {"power_w", energy->power_w},
          {"window_s", energy->window_s},
          {"launches", energy->launches}};
}

Json rejection_json(const std::optional<Rejection>& rejection) {
  if (!rejection) return {};
  return {{"gate", to_string(rejection->gate)},
          {"reason", rejection->reason},
          {"policy_only", rejection->policy_only},
          {"detail", rejection->detail}};
}

Json compilation_json(const Found& found) {
  if (!found.compilation) return {};
  const CompilationFacts& compilation = *found.compilation;
  return {{"key", compilation.key},
          {"ok", compilation.ok},
          {"arch", compilation.arch},
          {"compiler", compilation.compiler},
          {"options", compilation.options},
          {"error", compilation.error},
          {"ptx_hash", compilation.ptx_hash},
          {"registers", compilation.resources.registers},
          {"static_shared_bytes", compilation.resources.static_shared_bytes},
          {"dynamic_shared_bytes", found.evaluation.dynamic_shared_bytes},
          {"spill_store_bytes", compilation.resources.spill_store_bytes},
          {"spill_load_bytes", compilation.resources.spill_load_bytes},
          {"stack_bytes", compilation.resources.stack_bytes},
          {"max_threads", compilation.resources.max_threads}};
}

/// The largest figure of all checks; NaN if one of them is NaN.
std::optional<double> worst(const EvaluationRecord& record, double CheckResult::*figure) {
  std::optional<double> worst;
  for (const CheckResult& check : record.checks) {
    if (worst && std::isnan(*worst)) break;
    if (!worst || !(check.*figure <= *worst)) worst = check.*figure;
  }
  return worst;
}

/// Adds a row with one property of the candidates a and b. With `ratio`, which requires comparable
/// times, the row also has the ratio b / a.
void add_row(Table& table, const std::string& name, Json a, Json b, bool ratio = false) {
  Json quotient;
  if (ratio && a.is_number() && b.is_number() && a.get<double>() > 0) {
    quotient = b.get<double>() / a.get<double>();
  }
  table.rows.push_back({name, std::move(a), std::move(b), std::move(quotient)});
}

/// Why the times of two candidates are not comparable; empty if they are.
std::string incomparable(const Found& a, const Found& b) {
  if (!is_green(a.evaluation) || !is_green(b.evaluation)) return "not both candidates are green";
  const RunInfo& left = a.run.info;
  const RunInfo& right = b.run.info;
  if (left.device.time_kind != right.device.time_kind)
    return "one time is measured, the other predicted";
  if (left.device.name != right.device.name) return "they ran on different devices";
  if (left.problem.key != right.problem.key) return "they solve different problems";
  if (left.shape != right.shape) return "the timed shapes differ";
  return {};
}

void add_results(Table& table, const Found& a, const Found& b, bool comparable) {
  const auto add = [&](const char* name, const auto& of, bool ratio = false) {
    add_row(table, name, of(a), of(b), ratio);
  };
  const auto figure = [](double Timing::*member) {
    return [=](const Found& found) {
      const auto& timing = found.evaluation.timing;
      return timing ? Json((*timing).*member) : Json();
    };
  };
  const auto resource = [](int Resources::*member) {
    return [=](const Found& found) {
      return found.compilation ? Json(found.compilation->resources.*member) : Json();
    };
  };
  const auto error = [](double CheckResult::*member) {
    return [=](const Found& found) { return or_null(worst(found.evaluation, member)); };
  };
  add("p50_us", figure(&Timing::p50_us), comparable);
  add("p90_us", figure(&Timing::p90_us), comparable);
  add("cv", figure(&Timing::cv));
  add("registers", resource(&Resources::registers));
  add("static_shared_bytes", resource(&Resources::static_shared_bytes));
  add("dynamic_shared_bytes",
      [](const Found& found) { return found.evaluation.dynamic_shared_bytes; });
  add("max_abs_error", error(&CheckResult::max_abs_error));
  add("relative_l2", error(&CheckResult::relative_l2));
  add("max_row_error", error(&CheckResult::max_row_error));
}

void add_macros(Table& table, const Found& a, const Found& b) {
  const Json left = Json::parse(a.evaluation.config_json);
  const Json right = Json::parse(b.evaluation.config_json);
  for (const auto& [name, value] : left.items()) {
    const Json other = right.value(name, Json());
    if (other != value) add_row(table, name, value, other);
  }
  for (const auto& [name, value] : right.items()) {
    if (!left.contains(name)) add_row(table, name, Json(), value);
  }
}

std::string comparison_notes(const Store& store, CandidateId a, CandidateId b) {
  std::ostringstream notes;
  notes.precision(4);
  for (const ComparisonRecord& record : comparisons_between(store, a, b)) {
    notes << "confirmed in generation " << record.generation << " by " << record.pairs
          << " interleaved pairs: candidate " << record.challenger << " takes " << record.ratio
          << " times as long as candidate " << record.incumbent << " (confidence interval "
          << record.ratio_low << " to " << record.ratio_high << "): " << to_string(record.verdict)
          << '\n';
  }
  return notes.str();
}

}  // namespace

Answer compare_answer(const Store& store, CandidateId a, CandidateId b) {
  const Found left = find(store, a);
  const Found right = find(store, b);
  Answer answer{
      .title = "candidate " + std::to_string(a) + " (a) and " + std::to_string(b) + " (b)",
      .table = {.columns = {{"figure", "figure", 0, true},
                            {"a", std::to_string(a), 4},
                            {"b", std::to_string(b), 4},
                            {"b_over_a", "b / a", 4}}}};
  const std::string obstacle = incomparable(left, right);
  Table& table = answer.table;
  const RunInfo& left_run = left.run.info;
  const RunInfo& right_run = right.run.info;
  add_row(table, "outcome", outcome(left), outcome(right));
  add_row(table, "run", left.run.id, right.run.id);
  add_row(table, "device", left_run.device.name, right_run.device.name);
  add_row(table, "shape", left_run.shape, right_run.shape);
  add_row(table, "kind", to_string(left_run.device.time_kind),
          to_string(right_run.device.time_kind));
  add_results(table, left, right, obstacle.empty());
  add_macros(table, left, right);
  if (!obstacle.empty()) answer.notes = "no ratio of times: " + obstacle + "\n";
  answer.notes += comparison_notes(store, a, b);
  if (obstacle.empty() && answer.notes.empty()) {
    answer.notes =
        "the ratio is from separate measurements; "
        "the database has no A/B pairs of the two candidates\n";
  }
  return answer;
}

Json candidate_json(const Store& store, CandidateId candidate) {
  const Found found = find(store, candidate);
  const EvaluationRecord& record = found.evaluation;
  const RunInfo& info = found.run.info;
  return {{"candidate", candidate},
          {"run", found.run.id},
          {"generation", record.generation},
          {"position", record.position},
          {"origin", record.origin},
          {"milestone", record.milestone.empty() ? Json() : Json(record.milestone)},
          {"outcome", outcome_word(record)},
          {"duplicate_of", or_null(record.duplicate_of)},
          {"space", info.space.name},
          {"device", info.device.name},
          {"shape", info.shape},
          {"kind", to_string(info.device.time_kind)},
          {"config", Json::parse(record.config_json)},
          {"timing", timing_json(record)},
          {"gpu", gpu_json(record)},
          {"energy", energy_json(record)},
          {"profile", record.profile ? profile_json(*record.profile) : Json()},
          {"rejection", rejection_json(record.rejection)},
          {"withdrawal", rejection_json(record.withdrawal)},
          {"checks", checks_json(record)},
          {"compilation", compilation_json(found)},
          {"compile_ms", record.compile_ms},
          {"check_ms", record.check_ms},
          {"time_ms", record.time_ms},
          {"created_at", record.created_at}};
}

std::string candidate_text(const Store& store, CandidateId candidate) {
  const Found found = find(store, candidate);
  const EvaluationRecord& record = found.evaluation;
  std::ostringstream out;
  out << "candidate " << candidate << ": " << outcome(found) << "\n  run " << found.run.id << ", "
      << found.run.info.space.name << " on " << found.run.info.device.name << ", shape "
      << found.run.info.shape << ", " << kind_label(found.run.info.device) << "\n  generation "
      << record.generation << ", position " << record.position << ", from " << record.origin
      << (record.milestone.empty() ? "" : " " + record.milestone) << ", " << record.created_at
      << '\n';
  const auto section = [&](const std::string& title, const Json& object) {
    if (object.is_null() || object.empty()) return;
    out << title << '\n';
    for (const auto& [name, value] : object.items()) {
      const bool blank = value.is_string() && value.get_ref<const std::string&>().empty();
      if (name == "detail" || blank) continue;
      out << "  " << name << " = " << (value.is_string() ? value.get<std::string>() : value.dump())
          << '\n';
    }
  };
  section("configuration", Json::parse(record.config_json));
  section("timing", timing_json(record));
  section("GPU while it was timed", gpu_json(record));
  section("energy", energy_json(record));
  if (record.profile) section("profile", profile_json(*record.profile));
  section("rejection", rejection_json(record.rejection));
  section("withdrawal", rejection_json(record.withdrawal));
  if (record.rejection && !record.rejection->detail.empty()) {
    out << "detail\n" << record.rejection->detail << '\n';
  }
  section("compilation", compilation_json(found));
  if (!record.checks.empty()) {
    Table table{.columns = {{"shape", "check", 0, true},
                            {"seed", "seed"},
                            {"max_abs_error", "max abs err", -2},
                            {"bad_share", "bad share", 4},
                            {"relative_l2", "relative L2", -2},
                            {"max_row_error", "row error", -2},
                            {"sampled", "only", 0, true}}};
    for (const Json& check : checks_json(record)) {
      std::vector<Json>& row = table.rows.emplace_back();
      for (const auto& [name, value] : check.items()) row.push_back(value);
    }
    print_text(out, table);
  }
  return out.str();
}

}  // namespace evo
