#include "tools/export/environment.hpp"

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tools/answers/or_null.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr double kUsPerMs = 1000;

/// The value at a path of keys in `json`; null if the path does not exist.
Ordered value_at(const Json& json, std::initializer_list<std::string> path) {
  Json::json_pointer place;
  for (const std::string& key : path) place.push_back(key);
  return json.contains(place) ? Ordered(json.at(place)) : Ordered();
}

/// The C++ names of the kernels: "partial_sums, final_sum<32>".
std::string entries_in(const Ordered& steps) {
  std::string list;
  for (const Ordered& step : steps) {
    list += (list.empty() ? "" : ", ") + step.value("entry", std::string());
  }
  return list;
}

/// The name of the template of a run's space; empty if the space cannot be read.
std::string template_of(const StoredRun& run) {
  try {
    return parse_json(run.info.space.text, "space").value("template", "");
  } catch (const InputError&) {
    return {};
  }
}

/// The configuration of the control kernel of a run of evo-record: the first green candidate.
Ordered control_configuration(const Store& store, RunId run) {
  Ordered configuration;
  store.for_each_evaluation(run, [&](const EvaluationRecord& evaluation) {
    if (!configuration.is_null() || !evaluation.timing || evaluation.rejection) return;
    configuration = Ordered::parse(evaluation.config_json);
  });
  return configuration;
}

Ordered control(const Store& store, RunId run) {
  Ordered times = Ordered::array();
  std::int64_t evaluated = 0;
  for (const StoredGeneration& generation : store.generations(run)) {
    evaluated += generation.evaluated;
    const GenerationRecord& record = generation.record;
    if (!record.control_p50_us) continue;
    times.push_back({{"after", evaluated},
                     {"at", generation.finished_at},
                     {"p50_ms", *record.control_p50_us / kUsPerMs},
                     {"drift", record.control_drift.value_or(0)}});
  }
  if (times.empty()) return nullptr;
  return {{"configuration", control_configuration(store, run)}, {"times", times}};
}

Ordered recording(const Store& store, const StoredRun& run, const Ordered& options) {
  // If a recording was continued with a larger --count, `options` still holds the old count.
  const std::int64_t asked = std::max(options.value("candidates", std::int64_t{0}), run.evaluated);
  return {{"asked", asked},
          {"complete", run.status == RunStatus::kFinished},
          {"drawn", "the defaults, and the others uniformly without replacement"},
          {"control_every", run.info.offspring},
          {"protocol", options.value("protocol", Ordered())},
          {"control", control(store, run.id)}};
}

}  // namespace

ExportNames names_of(const StoredRun& run) {
  ExportNames names{run.info.problem.name, nullptr};
  try {
    const Json problem = parse_json(run.info.problem.text, "problem");
    const std::string name = template_of(run);
    const Ordered entry = value_at(problem, {"templates", name, "entry"});
    if (entry.is_string()) names.kernel = entry.get<std::string>();
    const Ordered steps = value_at(problem, {"templates", name, "steps"});
    if (steps.is_array()) names.kernel = entries_in(steps);
    names.variables = value_at(problem, {"shapes", run.info.shape, "variables"});
  } catch (const InputError&) {
    // If problem.json cannot be read, the problem's name serves as the kernel's name.
  }
  return names;
}

Ordered environment(const Store& store, const StoredRun& run) {
  const DeviceInfo& device = run.info.device;
  Ordered found = {{"device", device.name},
                   {"device_id", device.id},
                   {"architecture", device.arch},
                   {"driver", device.driver},
                   {"time_kind", to_string(device.time_kind)},
                   {"space", run.info.space.name},
                   {"problem", run.info.problem.name},
                   {"template", template_of(run)},
                   {"shape", run.info.shape},
                   {"run", run.id},
                   {"seed", run.info.seed},
                   {"strategy", run.info.strategy},
                   {"started_at", run.started_at},
                   {"finished_at", or_null(run.finished_at)},
                   {"evo_tune", run.info.evo_version}};
  const Ordered options = Ordered::parse(run.info.options_json);
  if (is_recording(run.info)) found["recording"] = recording(store, run, options);
  return found;
}

}  // namespace evo
