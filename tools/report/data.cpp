#include "tools/report/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/queries.hpp"
#include "engine/compile/compiler_options.hpp"
#include "engine/core/error.hpp"
#include "tools/answers/milestones.hpp"
#include "tools/answers/or_null.hpp"
#include "tools/answers/outcome.hpp"
#include "tools/answers/run_insight.hpp"
#include "tools/answers/winner_ways.hpp"
#include "tools/export/environment.hpp"
#include "tools/report/candidates.hpp"
#include "tools/report/gpu.hpp"
#include "tools/report/winner.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

/// Quotes a word for a shell.
std::string quoted(const std::string& word) { return join_options({&word, 1}); }

/// Whether the run's problem starts programs, for which evo-tune requires --allow-programs.
bool has_programs(const RunInfo& info) {
  const Ordered problem = Ordered::parse(info.problem.text, nullptr, false, true);
  return problem.contains(Ordered::json_pointer("/reference/program")) ||
         problem.contains(Ordered::json_pointer("/check/program"));
}

Ordered device_json(const DeviceInfo& device) {
  return {{"id", device.id},
          {"name", device.name},
          {"arch", device.arch},
          {"driver", device.driver},
          {"kind", to_string(device.time_kind)},
          {"sm_count", device.sm_count},
          {"clock_mhz", device.clock_mhz},
          {"l2_bytes", device.l2_bytes},
          {"max_registers_per_thread", device.max_registers_per_thread},
          {"max_shared_bytes_per_cta", device.max_shared_bytes_per_cta},
          {"peak_tflops", device.peak_tflops},
          {"peak_bandwidth_gbs", device.peak_bandwidth_gbs}};
}

Ordered summary_json(const RejectionSummary& summary) {
  Ordered groups = Ordered::array();
  for (const RejectionGroup& group : summary.groups) {
    groups.push_back({{"gate", to_string(group.gate)},
                      {"policy_only", group.policy_only},
                      {"count", group.count},
                      {"candidate", group.candidate},
                      {"reason", group.reason}});
  }
  return {{"evaluated", summary.evaluated}, {"green", summary.green},
          {"rejected", summary.rejected},   {"duplicates", summary.duplicates},
          {"withdrawn", summary.withdrawn}, {"policy_only", summary.policy_only},
          {"groups", std::move(groups)}};
}

Ordered milestones_json(const Store& store, RunId run) {
  Ordered results = Ordered::array();
  const std::vector<MilestoneResult> milestones = milestone_results(store, run);
  const std::vector<bool> builds = builds_on_before(milestones);
  for (std::size_t i = 0; i < milestones.size(); ++i) {
    const MilestoneResult& result = milestones[i];
    const Rejection* why = failure_of(result.evaluation);
    results.push_back({{"milestone", result.evaluation.milestone},
                       {"candidate", result.evaluation.id},
                       {"duplicate_of", or_null(result.evaluation.duplicate_of)},
                       {"p50_us", or_null(result.p50_us)},
                       {"builds_on_before", static_cast<bool>(builds[i])},
                       {"speedup", or_null(result.speedup)},
                       {"gate", why ? Ordered(to_string(why->gate)) : Ordered()},
                       {"reason", why ? Ordered(why->reason) : Ordered()}});
  }
  return results;
}

Ordered comparisons_json(const Store& store, RunId run) {
  Ordered comparisons = Ordered::array();
  for (const ComparisonRecord& comparison : store.comparisons(run)) {
    comparisons.push_back({{"generation", comparison.generation},
                           {"challenger", comparison.challenger},
                           {"incumbent", comparison.incumbent},
                           {"ratio", comparison.ratio},
                           {"low", comparison.ratio_low},
                           {"high", comparison.ratio_high},
                           {"pairs", comparison.pairs},
                           {"verdict", to_string(comparison.verdict)}});
  }
  return comparisons;
}

Ordered control_json(const Store& store, RunId run) {
  Ordered points = Ordered::array();
  for (const StoredGeneration& generation : store.generations(run)) {
    const GenerationRecord& record = generation.record;
    if (!record.control_p50_us) continue;
    points.push_back({{"generation", record.number},
                      {"p50_us", *record.control_p50_us},
                      {"drift", or_null(record.control_drift)}});
  }
  return points;
}

Ordered events_json(const Store& store, RunId run) {
  Ordered events = Ordered::array();
  for (const StoredEvent& event : store.events(run)) {
    // The report shows this event in place of the steps to the winner.
    if (event.kind == kNoWayEvent) continue;
    events.push_back({{"at", event.at}, {"kind", event.kind}, {"text", event.text}});
  }
  return events;
}

/// The space's policy, as the file states it; null if the space has no policy or cannot be read.
Ordered policy_of(const StoredRun& run) {
  const Ordered space = Ordered::parse(run.info.space.text, nullptr, false, true);
  return space.is_object() ? space.value("resources", Ordered()) : Ordered();
}

void put_insight(Ordered& json, const Store& store, const StoredRun& run) {
  try {
    const Space space = space_of(run);
    json["valid_configurations"] = space.count().value;
    for (const Parameter& parameter : space.parameters()) {
      json["meanings"][parameter.macro] = parameter.meaning;
    }
    json["insight"] = Ordered::parse(insight_json(space, insight_of(store, run, space)));
  } catch (const InputError& error) {
    json["insight"] = nullptr;
    json["why_no_insight"] = error.what();
  }
}

}  // namespace

std::string command_of(const StoredRun& run) {
  const RunInfo& info = run.info;
  const Ordered options = Ordered::parse(info.options_json);
  const bool records = is_recording(info);
  const auto of_group = options.value("shapes", std::vector<std::string>{info.shape});
  const std::string shapes = fmt::format("{}", fmt::join(of_group, ","));
  std::string command =
      fmt::format("{} --space {} --device {} --shape {}", records ? "evo-record" : "evo-tune",
                  quoted(info.space.name), quoted(info.device.id), quoted(shapes));
  const auto add = [&](const char* option, const char* key) {
    if (options.contains(key)) command += fmt::format(" {} {}", option, options[key].dump());
  };
  if (records) {
    add("--count", "candidates");
    command += fmt::format(" --control-every {} --out {}", info.offspring, "recorded.json");
  } else {
    add("--generations", "generations");
    command += fmt::format(" --offspring {} --elite {} --strategy {}", info.offspring,
                           info.elite_size, quoted(info.strategy));
    if (options.contains("objective")) {
      command += " --objective " + quoted(options["objective"].get<std::string>());
    }
    if (!options.contains("warm_start")) command += " --no-warm-start";
  }
  add("--max-in-flight", "max_in_flight");
  command += fmt::format(" --seed {}", info.seed);
  add("--check-seed", "check_seed");
  if (options.value("cold", false)) command += " --flush-l2";
  if (has_programs(info)) command += " --allow-programs";
  return command;
}

Ordered report_of_run(const Store& store, const StoredRun& run) {
  const RunInfo& info = run.info;
  const Ordered options = Ordered::parse(info.options_json);
  Ordered json = {
      {"id", run.id},
      {"status", to_string(run.status)},
      {"problem", info.problem.name},
      {"space", info.space.name},
      {"shape", info.shape},
      {"variables", names_of(run).variables},
      {"kernel", names_of(run).kernel},
      {"device", device_json(info.device)},
      {"strategy", info.strategy},
      // Large numbers are strings, because JavaScript's integers are exact only up to 2^53.
      {"seed", std::to_string(info.seed)},
      {"check_seed", options.contains("check_seed") ? options["check_seed"].dump() : ""},
      {"started_at", run.started_at},
      {"finished_at", or_null(run.finished_at)},
      {"evo_version", info.evo_version},
      {"command", command_of(run)},
      {"flops_per_launch", info.flops_per_launch},
      {"bytes_per_launch", info.bytes_per_launch},
      {"summary", summary_json(rejections(store, run.id))}};
  json.update(winner_of_run(store, run));
  json["milestones"] = milestones_json(store, run.id);
  put_insight(json, store, run);
  json.update(ways_json(store, run));
  json["units"] = store.winner_units(run.id);
  json["candidates"] = candidates_of_run(store, run);
  json["comparisons"] = comparisons_json(store, run.id);
  json["control"] = control_json(store, run.id);
  json.update(gpu_of_run(store, run));
  json["policy"] = policy_of(run);
  json["events"] = events_json(store, run.id);
  return json;
}

}  // namespace evo
