#include "tools/export/results.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/space/space.hpp"
#include "tools/answers/or_null.hpp"
#include "tools/answers/outcome.hpp"
#include "tools/export/environment.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

double ms(double us) {
  constexpr double kUsInMs = 1000;
  return us / kUsInMs;
}

/// The name of the run's time in the files: measured and predicted times have different names.
std::string objective_of(const StoredRun& run) {
  return run.info.device.time_kind == TimeKind::kPredicted ? "predicted_time" : "time";
}

/// Calls `visit` once for every configuration that was timed or rejected, and counts the others.
RunResults for_each_judged(const Store& store, const StoredRun& run,
                           const std::function<void(const EvaluationRecord&)>& visit) {
  RunResults results;
  std::set<std::string> seen;
  std::set<std::string> not_judged;
  store.for_each_evaluation(run.id, [&](const EvaluationRecord& evaluation) {
    // A configuration may be stored twice: first only compiled, later checked and timed.
    if (seen.contains(evaluation.config_json)) return;
    if (failure_of(evaluation) == nullptr && !evaluation.timing) {
      not_judged.insert(evaluation.config_json);
      return;
    }
    seen.insert(evaluation.config_json);
    not_judged.erase(evaluation.config_json);
    ++results.configurations;
    visit(evaluation);
  });
  results.not_judged = static_cast<int>(not_judged.size());
  return results;
}

/// T4's name for a failure at a gate.
const char* invalidity(Gate gate) {
  return gate == Gate::kBuild ? "compile" : gate == Gate::kCorrectness ? "correctness" : "runtime";
}

/// Kernel Tuner's name for a failure at a gate.
const char* failed_config(Gate gate) {
  return gate == Gate::kBuild      ? "CompilationFailedConfig"
         : gate == Gate::kResource ? "InvalidConfig"
                                   : "RuntimeFailedConfig";
}

/// The driver's figures of the GPU during timing; null for figures that the driver did not report.
Ordered gpu_figures(const GpuState& gpu) {
  return {{"sm_clock_mhz", or_null(gpu.sm_clock_median_mhz)},
          {"memory_clock_mhz", or_null(gpu.memory_clock_mhz)},
          {"temperature_c", or_null(gpu.temperature_c)},
          {"power_w", or_null(gpu.power_w)}};
}

/// Data for which T4 and Kernel Tuner's cache lack a key: the candidate's origin, kernel and
/// resources, the state of the GPU, and the reason of a failure.
Ordered details(const Store& store, const EvaluationRecord& evaluation) {
  Ordered found = {{"origin", evaluation.origin}};
  if (!evaluation.kernel_key.empty()) found["kernel"] = evaluation.kernel_key;
  if (evaluation.compilation && !evaluation.kernel_key.empty()) {
    const Resources resources = store.compilation_facts(*evaluation.compilation).resources;
    found["registers"] = resources.registers;
    found["shared_bytes"] = resources.static_shared_bytes + evaluation.dynamic_shared_bytes;
    found["spill_bytes"] = resources.spill_store_bytes + resources.spill_load_bytes;
    found["stack_bytes"] = resources.stack_bytes;
  }
  if (evaluation.gpu) found["gpu"] = gpu_figures(*evaluation.gpu);
  if (const Rejection* rejection = failure_of(evaluation)) {
    found["gate"] = to_string(rejection->gate);
    found["reason"] = rejection->reason;
    found["policy_only"] = rejection->policy_only;
  }
  return found;
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

Ordered t4_result(const Store& store, const EvaluationRecord& evaluation,
                  const std::string& objective) {
  const Rejection* failure = failure_of(evaluation);
  const bool is_measured = evaluation.timing && evaluation.timing->kind == TimeKind::kMeasured;
  Ordered result = {{"timestamp", evaluation.created_at},
                    {"configuration", Ordered::parse(evaluation.config_json)},
                    {"objectives", {objective}}};
  Ordered runtimes = Ordered::array();
  if (failure == nullptr && is_measured) runtimes.push_back(ms(evaluation.timing->p50_us));
  result["times"] = {{"compilation_time", evaluation.compile_ms},
                     {"runtimes", runtimes},
                     {"framework", 0},
                     {"search_algorithm", 0},
                     {"validation", evaluation.check_ms}};
  result["invalidity"] = failure == nullptr ? "correct" : invalidity(failure->gate);
  result["correctness"] = failure == nullptr ? 1 : 0;
  result["measurements"] =
      failure == nullptr ? measurements(*evaluation.timing, objective) : Ordered::array();
  result["evo_tune"] = details(store, evaluation);
  return result;
}

/// "16,1": a configuration's values joined as in Kernel Tuner.
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

Ordered cache_entry(const Store& store, const EvaluationRecord& evaluation,
                    const Ordered& configuration, const std::string& objective) {
  const Rejection* failure = failure_of(evaluation);
  Ordered entry = configuration;
  if (failure == nullptr) {
    entry[objective] = ms(evaluation.timing->p50_us);
    if (evaluation.timing->kind == TimeKind::kMeasured) {
      entry["times"] = {ms(evaluation.timing->p50_us)};
      entry["time_p90"] = ms(evaluation.timing->p90_us);
      entry["time_std"] = ms(evaluation.timing->std_us);
    }
  } else {
    entry[objective] = failed_config(failure->gate);
  }
  entry["compile_time"] = evaluation.compile_ms;
  entry["verification_time"] = evaluation.check_ms;
  entry["benchmark_time"] = evaluation.time_ms;
  entry["strategy_time"] = 0;
  entry["framework_time"] = 0;
  entry["timestamp"] = evaluation.created_at;
  entry["evo_tune"] = details(store, evaluation);
  return entry;
}

/// The values of every parameter: from the space if it can be read, else the values in the results.
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
      if (std::ranges::count(values, value) == 0) values.push_back(value);
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
  const ExportNames names = names_of(run);
  Ordered file = {{"schema_version", "1.0.0"},
                  {"device_name", run.info.device.name},
                  {"kernel_name", names.kernel},
                  {"timeunit", "milliseconds"},
                  {"environment", environment(store, run)}};
  file["results"] = Ordered::array();
  RunResults results = for_each_judged(store, run, [&](const EvaluationRecord& evaluation) {
    file["results"].push_back(t4_result(store, evaluation, objective));
  });
  results.text = rendered(file);
  return results;
}

RunResults kernel_tuner_cache(const Store& store, const StoredRun& run) {
  const std::string objective = objective_of(run);
  const ExportNames names = names_of(run);
  Ordered keys = Ordered::array();
  Ordered cache = Ordered::object();
  RunResults results = for_each_judged(store, run, [&](const EvaluationRecord& evaluation) {
    const Ordered configuration = Ordered::parse(evaluation.config_json);
    for (const auto& [name, unused] : configuration.items()) {
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) keys.push_back(name);
    }
    cache[cache_key(configuration)] = cache_entry(store, evaluation, configuration, objective);
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
                        {"environment", environment(store, run)},
                        {"cache", cache}};
  results.text = rendered(file);
  return results;
}

OutputOwner results_owner(std::string_view writer) { return {writer, {R"("evo_tune": ")"}}; }

void write_results(const std::string& file, const RunResults& results, std::string_view writer) {
  const bool is_packed = file.ends_with(".gz");
  write_outputs({{file, is_packed ? gzip_compressed(results.text) : results.text}},
                results_owner(writer));
}

void require_two_files(const std::string& option, const std::string& file,
                       const std::string& cache) {
  const auto place = [](const std::string& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name));
  };
  if (file.empty() || cache.empty() || place(file) != place(cache)) return;
  throw InputError("--kernel-tuner-cache " + cache + ": is also the file of " + option +
                   "; name another file");
}

}  // namespace evo
