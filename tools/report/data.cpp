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
#include "tools/report/card.hpp"
#include "tools/report/winner.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

/// Quotes a word for a shell.
std::string quoted(const std::string& word) { return join_options({&word, 1}); }

Ordered device_json(const DeviceInfo& device) {
  return {{"id", device.id},
          {"name", device.name},
          {"arch", device.arch},
          {"driver", device.driver},
          {"kind", std::string(to_string(device.time_kind))},
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
    groups.push_back({{"gate", std::string(to_string(group.gate))},
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

Ordered ladder_json(const Store& store, RunId run) {
  Ordered rungs = Ordered::array();
  const std::vector<Rung> milestones = ladder(store, run);
  const std::vector<bool> builds = builds_on_before(milestones);
  for (std::size_t i = 0; i < milestones.size(); ++i) {
    const Rung& rung = milestones[i];
    const Rejection* why = failure_of(rung.evaluation);
    rungs.push_back({{"milestone", rung.evaluation.milestone},
                     {"candidate", rung.evaluation.id},
                     {"duplicate_of", or_null(rung.evaluation.duplicate_of)},
                     {"p50_us", or_null(rung.p50_us)},
                     {"builds_on_before", static_cast<bool>(builds[i])},
                     {"speedup", or_null(rung.speedup)},
                     {"gate", why ? Ordered(std::string(to_string(why->gate))) : Ordered()},
                     {"reason", why ? Ordered(why->reason) : Ordered()}});
  }
  return rungs;
}

Ordered duels_json(const Store& store, RunId run) {
  Ordered duels = Ordered::array();
  for (const ConfirmationRecord& duel : store.confirmations(run)) {
    duels.push_back({{"generation", duel.generation},
                     {"challenger", duel.challenger},
                     {"incumbent", duel.incumbent},
                     {"ratio", duel.ratio},
                     {"low", duel.ratio_low},
                     {"high", duel.ratio_high},
                     {"pairs", duel.pairs},
                     {"verdict", std::string(to_string(duel.verdict))}});
  }
  return duels;
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
    command += fmt::format(" --control-every {} --out {}", info.children, "recorded.json");
  } else {
    add("--generations", "generations");
    command += fmt::format(" --children {} --elite {} --strategy {}", info.children,
                           info.elite_size, quoted(info.strategy));
    if (options.contains("objective")) {
      command += " --objective " + quoted(options["objective"].get<std::string>());
    }
    if (!options.contains("warm_start")) command += " --no-warm-start";
  }
  add("--window", "window");
  command += fmt::format(" --seed {}", info.seed);
  add("--check-seed", "check_seed");
  if (options.value("cold", false)) command += " --flush-l2";
  return command;
}

Ordered report_of_run(const Store& store, const StoredRun& run) {
  const RunInfo& info = run.info;
  const Ordered options = Ordered::parse(info.options_json);
  Ordered json = {
      {"id", run.id},
      {"status", std::string(to_string(run.status))},
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
  json["ladder"] = ladder_json(store, run.id);
  put_insight(json, store, run);
  json.update(ways_json(store, run));
  json["units"] = store.winner_units(run.id);
  json["candidates"] = candidates_of_run(store, run);
  json["duels"] = duels_json(store, run.id);
  json["control"] = control_json(store, run.id);
  json.update(card_of_run(store, run));
  json["policy"] = policy_of(run);
  json["events"] = events_json(store, run.id);
  return json;
}

}  // namespace evo
