#include "tools/evo_export_results.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

double ms(double us) {
  constexpr double kUsPerMs = 1000;
  return us / kUsPerMs;
}

/// What the files call the time of this run.
std::string objective_of(const StoredRun& run) {
  return run.info.device.time_kind == TimeKind::kPredicted ? "predicted_time" : "time";
}

/// Why a configuration has no time, the later word first; nothing when it has one.
const Rejection* failure_of(const StoredEvaluation& evaluation) {
  if (evaluation.withdrawal) return &*evaluation.withdrawal;
  return evaluation.record.rejection ? &*evaluation.record.rejection : nullptr;
}

/// Calls `visit` for every configuration that was judged, each once; the others are counted.
RunResults for_each_judged(const Store& store, const StoredRun& run,
                           const std::function<void(const StoredEvaluation&)>& visit) {
  RunResults results;
  std::set<std::string> seen;
  store.for_each_evaluation(run.id, [&](const StoredEvaluation& evaluation) {
    if (!seen.insert(evaluation.record.config_json).second) return;
    if (failure_of(evaluation) == nullptr && !evaluation.record.timing) {
      ++results.not_judged;
      return;
    }
    ++results.configurations;
    visit(evaluation);
  });
  return results;
}

/// Of the problem's text, null where it is not there.
Ordered value_at(const Json& json, std::initializer_list<std::string> path) {
  const Json* at = &json;
  for (const std::string& key : path) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || found == at->end()) return nullptr;
    at = &*found;
  }
  return Ordered::parse(at->dump());
}

/// "partial_sums, final_sum<32>".
std::string entries_in(const Ordered& steps) {
  std::string list;
  for (const Ordered& step : steps) {
    list += (list.empty() ? "" : ", ") + step.value("entry", std::string());
  }
  return list;
}

struct Names {
  std::string kernel;  ///< the entry in C++, or all
  Ordered variables;   ///< of the shape
};

Names names_of(const StoredRun& run) {
  Names names{run.info.problem.name, nullptr};
  try {
    const Json problem = parse_json(run.info.problem.text, "problem");
    const Json space = parse_json(run.info.space.text, "space");
    const std::string name = space.value("template", "");
    const Ordered entry = value_at(problem, {"templates", name, "entry"});
    if (entry.is_string()) names.kernel = entry.get<std::string>();
    const Ordered steps = value_at(problem, {"templates", name, "steps"});
    if (steps.is_array()) names.kernel = entries_in(steps);
    names.variables = value_at(problem, {"shapes", run.info.shape, "variables"});
  } catch (const InputError&) {
    // A text of another version: the names of the run do.
  }
  return names;
}

Ordered environment(const StoredRun& run) {
  const DeviceInfo& device = run.info.device;
  return {{"device", device.name},
          {"device_id", device.id},
          {"architecture", device.arch},
          {"driver", device.driver},
          {"time_kind", device.time_kind == TimeKind::kPredicted ? "predicted" : "measured"},
          {"space", run.info.space.name},
          {"shape", run.info.shape},
          {"run", run.id},
          {"seed", run.info.seed},
          {"strategy", run.info.strategy},
          {"evo_tune", run.info.evo_version}};
}

/// T4's word for a gate.
const char* invalidity(Gate gate) {
  switch (gate) {
    case Gate::kBuild:
      return "compile";
    case Gate::kCorrectness:
      return "correctness";
    default:
      return "runtime";
  }
}

/// Kernel Tuner's word for a gate.
const char* failed_config(Gate gate) {
  switch (gate) {
    case Gate::kBuild:
      return "CompilationFailedConfig";
    case Gate::kResource:
      return "InvalidConfig";
    default:
      return "RuntimeFailedConfig";
  }
}

Ordered why(const Rejection& rejection) {
  return {{"gate", to_string(rejection.gate)},
          {"reason", rejection.reason},
          {"policy_only", rejection.policy_only}};
}

Ordered measurements(const Timing& timing, const std::string& objective) {
  const bool is_measured = timing.kind == TimeKind::kMeasured;
  const auto one = [](const std::string& name, double us) {
    return Ordered{{"name", name}, {"value", ms(us)}, {"unit", "ms"}};
  };
  Ordered list = {one(objective, timing.p50_us)};
  if (!is_measured) return list;
  for (const auto& [name, us] : {std::pair("time_p90", timing.p90_us),
                                 {"time_p99", timing.p99_us},
                                 {"time_mean", timing.mean_us},
                                 {"time_std", timing.std_us}}) {
    list.push_back(one(name, us));
  }
  list.push_back({{"name", "samples"}, {"value", timing.samples}, {"unit", ""}});
  return list;
}

Ordered t4_result(const StoredEvaluation& evaluation, const std::string& objective) {
  const EvaluationRecord& record = evaluation.record;
  const Rejection* failure = failure_of(evaluation);
  const bool is_measured = record.timing && record.timing->kind == TimeKind::kMeasured;
  Ordered result = {{"timestamp", evaluation.created_at},
                    {"configuration", Ordered::parse(record.config_json)},
                    {"objectives", {objective}}};
  Ordered runtimes = Ordered::array();
  if (failure == nullptr && is_measured) runtimes.push_back(ms(record.timing->p50_us));
  result["times"] = {{"compilation_time", record.compile_ms},
                     {"runtimes", runtimes},
                     {"framework", 0},
                     {"search_algorithm", 0},
                     {"validation", record.check_ms}};
  result["invalidity"] = failure == nullptr ? "correct" : invalidity(failure->gate);
  result["correctness"] = failure == nullptr ? 1 : 0;
  result["measurements"] =
      failure == nullptr ? measurements(*record.timing, objective) : Ordered::array();
  if (failure != nullptr) result["evo_tune"] = why(*failure);
  return result;
}

/// "16,1", as Kernel Tuner joins the values of a configuration.
std::string cache_key(const Ordered& configuration) {
  std::string key;
  for (const auto& [name, value] : configuration.items()) {
    if (!key.empty()) key += ",";
    if (value.is_boolean()) {
      key += value.get<bool>() ? "True" : "False";
    } else {
      key += value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
  return key;
}

Ordered cache_entry(const StoredEvaluation& evaluation, const Ordered& configuration,
                    const std::string& objective) {
  const EvaluationRecord& record = evaluation.record;
  const Rejection* failure = failure_of(evaluation);
  Ordered entry = configuration;
  if (failure == nullptr) {
    entry[objective] = ms(record.timing->p50_us);
    if (record.timing->kind == TimeKind::kMeasured) entry["times"] = {ms(record.timing->p50_us)};
  } else {
    entry[objective] = failed_config(failure->gate);
    entry["evo_tune"] = why(*failure);
  }
  entry["compile_time"] = record.compile_ms;
  entry["verification_time"] = record.check_ms;
  entry["benchmark_time"] = record.time_ms;
  entry["strategy_time"] = 0;
  entry["framework_time"] = 0;
  entry["timestamp"] = evaluation.created_at;
  return entry;
}

/// The values of every parameter: those of the space, else those that occur.
Ordered tune_params(const StoredRun& run, const Ordered& cache, const Ordered& keys) {
  Ordered params = Ordered::object();
  try {
    for (const Parameter& parameter : parse_space(run.info.space.text, "space").parameters) {
      for (const ParameterValue& value : parameter.values) {
        const bool is_name = value.kind == ParameterValue::Kind::kName;
        params[parameter.macro].push_back(is_name ? Ordered(value.text)
                                                  : Ordered::parse(value.text));
      }
    }
  } catch (const InputError&) {
    params = Ordered::object();
  }
  for (const Ordered& key : keys) {
    const std::string name = key.get<std::string>();
    if (params.contains(name)) continue;
    Ordered values = Ordered::array();
    for (const auto& [unused, entry] : cache.items()) {
      const Ordered& value = entry.at(name);
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    params[name] = values;
  }
  return params;
}

std::string rendered(const Ordered& json) {
  constexpr int kIndent = 1;
  return json.dump(kIndent, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace

RunResults t4_results(const Store& store, const StoredRun& run) {
  const std::string objective = objective_of(run);
  const Names names = names_of(run);
  Ordered file = {{"schema_version", "1.0.0"},
                  {"device_name", run.info.device.name},
                  {"kernel_name", names.kernel},
                  {"timeunit", "milliseconds"},
                  {"environment", environment(run)}};
  file["results"] = Ordered::array();
  RunResults results = for_each_judged(store, run, [&](const StoredEvaluation& evaluation) {
    file["results"].push_back(t4_result(evaluation, objective));
  });
  results.text = rendered(file);
  return results;
}

RunResults kernel_tuner_cache(const Store& store, const StoredRun& run) {
  const std::string objective = objective_of(run);
  const Names names = names_of(run);
  Ordered keys = Ordered::array();
  Ordered cache = Ordered::object();
  RunResults results = for_each_judged(store, run, [&](const StoredEvaluation& evaluation) {
    const Ordered configuration = Ordered::parse(evaluation.record.config_json);
    for (const auto& [name, unused] : configuration.items()) {
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) keys.push_back(name);
    }
    cache[cache_key(configuration)] = cache_entry(evaluation, configuration, objective);
  });
  Ordered sizes = Ordered::array();
  if (names.variables.is_object()) {
    for (const auto& [unused, value] : names.variables.items()) sizes.push_back(value);
  }
  const Ordered params = tune_params(run, cache, keys);
  const Ordered file = {{"schema_version", "1.1.0"},
                        {"device_name", run.info.device.name},
                        {"kernel_name", names.kernel},
                        {"problem_size", sizes},
                        {"tune_params_keys", keys},
                        {"tune_params", params},
                        {"objective", objective},
                        {"environment", environment(run)},
                        {"cache", cache}};
  results.text = rendered(file);
  return results;
}

}  // namespace evo
