#include "tools/report/winner.hpp"

#include <array>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tools/answers/checks_json.hpp"
#include "tools/answers/or_null.hpp"
#include "tools/answers/outcome.hpp"
#include "tools/answers/run_insight.hpp"
#include "tools/export/exported_kernel.hpp"
#include "tools/report/line_diff.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

/// The evaluation of the space's default configuration in a run.
struct DefaultCandidate {
  std::optional<EvaluationRecord> evaluation = {};
  std::string why_not = {};  ///< why there is no evaluation
};

DefaultCandidate default_of(const Store& store, const StoredRun& run) {
  DefaultCandidate found{.why_not = "the run did not evaluate the space's default configuration"};
  Ordered wanted;
  try {
    const Space space = space_of(run);
    wanted = Ordered::parse(space.config_json(space.defaults()));
  } catch (const InputError& error) {
    found.why_not = std::string("the space cannot be read: ") + error.what();
    return found;
  }
  store.for_each_evaluation(run.id, [&](EvaluationRecord evaluation) {
    if (found.evaluation || Ordered::parse(evaluation.config_json) != wanted) return;
    found = {.evaluation = std::move(evaluation)};
  });
  return found;
}

Ordered default_json(const DefaultCandidate& found) {
  if (!found.evaluation) return {{"candidate", nullptr}, {"why", found.why_not}};
  Ordered json = {{"candidate", found.evaluation->id},
                  {"config", Ordered::parse(found.evaluation->config_json)}};
  if (is_green(*found.evaluation)) {
    json["p50_us"] = found.evaluation->timing->p50_us;
    return json;
  }
  const Rejection* failure = failure_of(*found.evaluation);
  json["p50_us"] = nullptr;
  json["why"] = failure != nullptr
                    ? "the default configuration failed the " +
                          std::string(to_string(failure->gate)) + " gate: " + failure->reason
                    : std::string("the default configuration was not timed");
  return json;
}

Ordered elite_json(const std::vector<EliteRow>& rows) {
  Ordered list = Ordered::array();
  for (const EliteRow& row : rows) {
    list.push_back({{"rank", row.rank},
                    {"candidate", row.candidate},
                    {"p50_us", row.p50_us},
                    {"ratio_to_above", row.tie ? Ordered(row.tie->ratio) : Ordered()},
                    {"p90_us", row.p90_us},
                    {"tflops", row.tflops > 0 ? Ordered(row.tflops) : Ordered()},
                    {"registers", row.registers},
                    {"shared_bytes", row.shared_bytes},
                    {"max_abs_error", or_null(row.max_abs_error)},
                    {"config", Ordered::parse(row.config_json)}});
  }
  return list;
}

Ordered baseline_json(const Store& store, RunId run) {
  for (const MilestoneResult& result : milestone_results(store, run)) {
    if (!result.p50_us) continue;
    return {{"milestone", result.evaluation.milestone},
            {"candidate", result.evaluation.id},
            {"p50_us", *result.p50_us}};
  }
  return nullptr;
}

/// The fastest stored time of another implementation (a library); null if there is none.
Ordered vendor_json(const Store& store, RunId run) {
  const std::vector<VendorTime> times = store.vendor_times(run);
  if (times.empty()) return nullptr;
  const VendorTime& time = times.front();
  return {{"name", time.name},
          {"starts_from", time.starts_from},
          {"p50_us", time.p50_us},
          {"candidate", time.candidate},
          {"ratio", time.ratio},
          {"ratio_low", time.ratio_low},
          {"ratio_high", time.ratio_high}};
}

Ordered changes_json(const Ordered& from, const Ordered& to) {
  Ordered changes = Ordered::array();
  for (const auto& [name, value] : to.items()) {
    const Ordered before = from.value(name, Ordered());
    if (before != value)
      changes.push_back({{"macro", name}, {"default", before}, {"winner", value}});
  }
  return changes;
}

/// The source that was compiled: the macro definitions, followed by the template's source.
std::string source_of(const Store& store, const EvaluationRecord& evaluation) {
  if (!evaluation.compilation) return {};
  const CompilationRecord compilation = store.compilation(*evaluation.compilation);
  return macro_definitions(compilation.options) + "\n" + compilation.source;
}

Ordered difference_json(const std::string& before, const std::string& after) {
  Ordered lines = Ordered::array();
  constexpr std::array kMarks = {" ", "-", "+", "…"};  // in the order of DiffLine::Kind
  for (const DiffLine& line : line_diff(before, after)) {
    const bool is_left_out = line.kind == DiffLine::Kind::kLeftOut;
    lines.push_back({kMarks.at(static_cast<std::size_t>(line.kind)),
                     is_left_out ? Ordered(line.lines) : Ordered(line.text)});
  }
  return lines;
}

/// Adds the candidate's manifest to `json`, or null and the reason if the export fails.
void put_manifest(Ordered& json, const Store& store, CandidateId candidate) {
  try {
    json["manifest"] = export_kernel(store, candidate, "")
                           .manifest.dump(2, ' ', false, Ordered::error_handler_t::replace);
  } catch (const Error& error) {
    json["manifest"] = nullptr;
    json["why_no_manifest"] = error.what();
  }
}

Ordered tolerance_of(const EvaluationRecord& record) {
  const Ordered manifest = Ordered::parse(record.manifest_json, nullptr, false);
  return manifest.is_object() ? manifest.value("tolerance", Ordered()) : Ordered();
}

Ordered winner_json(const Store& store, const EliteRow& row, const EvaluationRecord& evaluation) {
  const Timing& timing = *evaluation.timing;
  Ordered json = {{"candidate", row.candidate},
                  {"generation", evaluation.generation},
                  {"origin", evaluation.origin},
                  {"p50_us", timing.p50_us},
                  {"p90_us", timing.p90_us},
                  {"p99_us", timing.p99_us},
                  {"cv", timing.cv},
                  {"samples", timing.samples},
                  {"tflops", row.tflops > 0 ? Ordered(row.tflops) : Ordered()},
                  {"shared_bytes", row.shared_bytes},
                  {"not_modelled", row.not_modelled},
                  {"config", Ordered::parse(row.config_json)}};
  if (evaluation.compilation) {
    const CompilationFacts facts = store.compilation_facts(*evaluation.compilation);
    json["registers"] = facts.resources.registers;
    json["spill_bytes"] = facts.resources.spill_store_bytes + facts.resources.spill_load_bytes;
    json["compiler"] = facts.compiler;
    json["ptx_hash"] = facts.ptx_hash;
  }
  return json;
}

}  // namespace

Ordered winner_of_run(const Store& store, const StoredRun& run) {
  const RunElite elite = run_elite(store, run.id);
  const std::vector<EliteRow>& rows = elite.rows;
  const DefaultCandidate start = default_of(store, run);
  Ordered json = {{"winner", nullptr},
                  {"elite", elite_json(rows)},
                  {"interpreted", elite.interpreted},
                  {"default", default_json(start)},
                  {"baseline", baseline_json(store, run.id)},
                  {"vendor", vendor_json(store, run.id)},
                  {"changes", nullptr},
                  {"checks", Ordered::array()},
                  {"tolerance", nullptr},
                  {"source", nullptr},
                  {"difference", nullptr},
                  {"manifest", nullptr}};
  if (rows.empty()) return json;
  const EliteRow& row = rows.front();
  const EvaluationRecord evaluation = store.evaluation(row.candidate);
  json["winner"] = winner_json(store, row, evaluation);
  json["checks"] = checks_json(evaluation);
  json["tolerance"] = tolerance_of(evaluation);
  const std::string source = source_of(store, evaluation);
  if (!source.empty()) json["source"] = source;
  put_manifest(json, store, row.candidate);
  if (!start.evaluation) return json;
  json["changes"] = changes_json(json["default"]["config"], json["winner"]["config"]);
  const std::string before = source_of(store, *start.evaluation);
  if (!before.empty() && !source.empty()) json["difference"] = difference_json(before, source);
  return json;
}

}  // namespace evo
