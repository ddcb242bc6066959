#include "engine/run/run_info.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Describes in the file of a recording how the times were measured, for readers of the file.
OrderedJson protocol(const TuningTask& task, const TimingOptions& timing) {
  if (task.device().time_kind == TimeKind::kPredicted) return {{"statistic", "prediction"}};
  return {{"statistic", "p50"},
          {"warmups", timing.warmups},
          {"least_samples", timing.stopping.least_samples},
          {"most_samples", timing.stopping.most_samples},
          {"sample_us", timing.sample_us},
          {"input_sets", timing.input_sets},
          {"cold", timing.cold}};
}

OrderedJson known_json(const Space& space, const std::vector<KnownCandidate>& known) {
  OrderedJson list = OrderedJson::array();
  for (const KnownCandidate& one : known) {
    list.push_back(
        {{"run", one.run}, {"config", OrderedJson::parse(space.config_json(one.candidate))}});
  }
  return list;
}

std::string options_json(const TuningTask& task, const RunRequest& request,
                         const TimingOptions& timing) {
  OrderedJson options = {{"generations", request.tuner.generations},
                         {"max_in_flight", request.tuner.max_in_flight},
                         {"check_seed", request.check_seed},
                         {"cold", request.cold}};
  if (request.tuner.objective != "time") options["objective"] = request.tuner.objective;
  if (request.tuner.aim == Aim::kRecord) {
    options["aim"] = to_string(request.tuner.aim);
    options["candidates"] = request.tuner.candidates;
    options["protocol"] = protocol(task, timing);
  }
  if (!request.searches.empty()) options["searches"] = request.searches;
  if (task.shape_count() > 1 || !request.searches.empty()) options["group"] = request.group;
  if (task.shape_count() > 1) {
    for (std::size_t at = 0; at < task.shape_count(); ++at) {
      options["shapes"].push_back(task.shape(at).name);
    }
  }
  if (!request.tuner.known.empty()) {
    options["warm_start"] = known_json(task.space(), request.tuner.known);
  }
  return options.dump();
}

RunInfo run_info(const TuningTask& task, const RunRequest& request, std::size_t at) {
  const SpaceDefinition& space = task.space(at).definition();
  RunInfo info;
  info.device = task.device();
  info.problem = {task.problem_key(), task.problem().name, task.problem().text};
  info.space = {task.space(at).content_key(), space.name, space.text};
  info.shape = task.shape(at).name;
  info.seed = request.tuner.seed;
  info.strategy = request.tuner.strategy;
  info.elite_size = static_cast<int>(request.tuner.elite);
  info.offspring = static_cast<int>(request.tuner.offspring);
  info.flops_per_launch = task.problem().flops.evaluate(task.shape(at).variables);
  info.bytes_per_launch = task.problem().bytes.evaluate(task.shape(at).variables);
  info.evo_version = request.evo_version;
  return info;
}

std::string aim_of(const RunInfo& info) {
  return std::string(to_string(is_recording(info) ? Aim::kRecord : Aim::kSearch));
}

std::size_t max_in_flight_of(const RunInfo& info) {
  return nlohmann::json::parse(info.options_json).at("max_in_flight").get<std::size_t>();
}

std::string check_seed_of(const RunInfo& info) {
  const auto options = nlohmann::json::parse(info.options_json);
  return std::to_string(options.value("check_seed", std::uint64_t{0}));
}

std::string objective_of(const RunInfo& info) {
  return nlohmann::json::parse(info.options_json).value("objective", std::string("time"));
}

}  // namespace

bool Resumption::is_given(std::string_view option) const {
  return std::ranges::find(given, option) != given.end();
}

std::vector<RunInfo> run_infos(const TuningTask& task, const RunRequest& request,
                               const TimingOptions& timing) {
  std::vector<RunInfo> infos;
  for (std::size_t at = 0; at < task.shape_count(); ++at) {
    infos.push_back(run_info(task, request, at));
    infos.back().options_json = options_json(task, request, timing);
  }
  return infos;
}

std::string difference(const RunInfo& was, const RunInfo& like) {
  std::string text;
  const auto add = [&](const std::string& what, const std::string& then, const std::string& now) {
    text += (text.empty() ? "" : "; ") + what + " " + then;
    text += then == now ? ", whose files have changed since" : ", now it is " + now;
  };
  const auto device = [](const RunInfo& info) {
    return info.device.name + " (" + std::string(to_string(info.device.time_kind)) + ")";
  };
  if (was.space.key != like.space.key) add("space", was.space.name, like.space.name);
  if (was.problem.key != like.problem.key) add("problem", was.problem.name, like.problem.name);
  if (was.shape != like.shape) add("shape", was.shape, like.shape);
  if (device(was) != device(like)) add("device", device(was), device(like));
  return text;
}

void require_same(const StoredRun& run, const RunInfo& like, const Resumption& resumption) {
  const RunInfo& was = run.info;
  const std::string name = "--resume: run " + std::to_string(run.id);
  if (const std::string found = difference(was, like); !found.empty()) {
    throw InputError(name + " is on " + found + "; resume it with the same files and options");
  }
  if (aim_of(was) != aim_of(like)) {
    throw InputError(name + " was started to " + aim_of(was) + ", not to " + aim_of(like));
  }
  const bool was_cold = nlohmann::json::parse(was.options_json).value("cold", false);
  const bool cold = nlohmann::json::parse(like.options_json).value("cold", false);
  if (was_cold != cold) {
    throw InputError(name + " was started " + (was_cold ? "with" : "without") +
                     " --flush-l2; resume it in the same way, because times must be comparable");
  }
  if (objective_of(was) != objective_of(like)) {
    throw InputError(name + " was started with --objective " + objective_of(was) +
                     "; continue it with the same objective, not " + objective_of(like));
  }
  const std::array<std::tuple<std::string, std::string, std::string>, 6> fixed = {{
      {"--seed", std::to_string(was.seed), std::to_string(like.seed)},
      {"--check-seed", check_seed_of(was), check_seed_of(like)},
      {"--strategy", was.strategy, like.strategy},
      {"--elite", std::to_string(was.elite_size), std::to_string(like.elite_size)},
      {is_recording(was) ? "--control-every" : "--offspring", std::to_string(was.offspring),
       std::to_string(like.offspring)},
      {"--max-in-flight", std::to_string(max_in_flight_of(was)),
       std::to_string(max_in_flight_of(like))},
  }};
  for (const auto& [option, old_value, new_value] : fixed) {
    if (resumption.is_given(option) && old_value != new_value) {
      throw InputError(option + " " + new_value + ": run " + std::to_string(run.id) +
                       " can only be continued with its own value, " + old_value);
    }
  }
}

std::string why_another(const Store& store, const RunInfo& like) {
  const std::vector<StoredRun> runs = store.runs();
  const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const StoredRun& run) {
    return run.status != RunStatus::kFinished && !difference(run.info, like).empty();
  });
  if (found == runs.rend()) return {};
  return "; run " + std::to_string(found->id) + ", which is not finished, is on " +
         difference(found->info, like);
}

RunRequest stored_request(const RunInfo& was, RunRequest request, const Resumption& resumption) {
  const auto options = nlohmann::json::parse(was.options_json);
  TunerOptions& tuner = request.tuner;
  tuner.seed = was.seed;
  tuner.strategy = was.strategy;
  tuner.elite = static_cast<std::size_t>(was.elite_size);
  tuner.offspring = static_cast<std::size_t>(was.offspring);
  tuner.max_in_flight = max_in_flight_of(was);
  if (!resumption.is_given("--count")) tuner.candidates = options.value("candidates", kAnyNumber);
  if (!resumption.is_given("--generations")) {
    tuner.generations = options.value("generations", tuner.generations);
  }
  request.check_seed = options.value("check_seed", request.check_seed);
  return request;
}

}  // namespace evo
