#include "engine/run/run_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/run/warm_start.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Describes in the file of a recording how the times were measured, for readers of the file.
OrderedJson protocol(const Workbench& bench) {
  if (bench.task().device().time_kind == TimeKind::kPredicted) return {{"statistic", "prediction"}};
  const TimingOptions& timing = bench.setup().timing;
  return {{"statistic", "p50"},
          {"warmups", timing.warmups},
          {"least_samples", timing.stopping.least_samples},
          {"most_samples", timing.stopping.most_samples},
          {"sample_us", timing.sample_us},
          {"input_sets", timing.input_sets},
          {"cold", timing.cold}};
}

OrderedJson known_json(const Workbench& bench, const std::vector<KnownCandidate>& known) {
  OrderedJson list = OrderedJson::array();
  for (const KnownCandidate& one : known) {
    list.push_back(
        {{"run", one.run},
         {"config", OrderedJson::parse(bench.task().space().config_json(one.candidate))}});
  }
  return list;
}

std::vector<KnownCandidate> known_from(const Workbench& bench, const nlohmann::json& options) {
  std::vector<KnownCandidate> known;
  for (const auto& one : options.value("warm_start", nlohmann::json::array())) {
    known.push_back({bench.task().space().candidate_from_json(one.at("config").dump()),
                     one.at("run").get<RunId>()});
  }
  return known;
}

std::string options_json(const Workbench& bench, const RunRequest& request) {
  OrderedJson options = {{"generations", request.tuner.generations},
                         {"max_in_flight", request.tuner.max_in_flight},
                         {"check_seed", request.check_seed},
                         {"cold", request.cold}};
  if (request.tuner.objective != "time") options["objective"] = request.tuner.objective;
  if (request.tuner.aim == Aim::kRecord) {
    options["aim"] = to_string(request.tuner.aim);
    options["candidates"] = request.tuner.candidates;
    options["protocol"] = protocol(bench);
  }
  if (bench.task().shape_count() > 1) {
    options["group"] = request.group;
    for (std::size_t at = 0; at < bench.task().shape_count(); ++at) {
      options["shapes"].push_back(bench.task().shape(at).name);
    }
  }
  if (!request.tuner.known.empty()) {
    options["warm_start"] = known_json(bench, request.tuner.known);
  }
  return options.dump();
}

std::string aim_of(const RunInfo& info) {
  return std::string(to_string(is_recording(info) ? Aim::kRecord : Aim::kSearch));
}

RunInfo run_info(const Workbench& bench, const RunRequest& request, std::size_t at) {
  const SpaceDefinition& space = bench.task().space(at).definition();
  RunInfo info;
  info.device = bench.task().device();
  info.problem = {bench.task().problem_key(), bench.task().problem().name,
                  bench.task().problem().text};
  info.space = {bench.task().space(at).content_key(), space.name, space.text};
  info.shape = bench.task().shape(at).name;
  info.seed = request.tuner.seed;
  info.strategy = request.tuner.strategy;
  info.elite_size = static_cast<int>(request.tuner.elite);
  info.offspring = static_cast<int>(request.tuner.offspring);
  info.flops_per_launch = bench.task().problem().flops.evaluate(bench.task().shape(at).variables);
  info.bytes_per_launch = bench.task().problem().bytes.evaluate(bench.task().shape(at).variables);
  info.options_json = options_json(bench, request);
  info.evo_version = request.evo_version;
  return info;
}

std::size_t max_in_flight_of(const RunInfo& info) {
  return nlohmann::json::parse(info.options_json).at("max_in_flight").get<std::size_t>();
}

bool is_given(const Resumption& resumption, std::string_view option) {
  return std::ranges::find(resumption.given, option) != resumption.given.end();
}

std::string objective_of(const RunInfo& info) {
  return nlohmann::json::parse(info.options_json).value("objective", std::string("time"));
}

/// Describes how space, problem, shape and device of a stored run differ from those of this run,
/// such as "space a, now it is b"; empty if they are equal.
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

/// Throws InputError unless a stored run has the same space, problem, shape, device and fixed
/// options as the command line.
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
  const std::array<std::tuple<std::string, std::string, std::string>, 5> fixed = {{
      {"--seed", std::to_string(was.seed), std::to_string(like.seed)},
      {"--strategy", was.strategy, like.strategy},
      {"--elite", std::to_string(was.elite_size), std::to_string(like.elite_size)},
      {is_recording(was) ? "--control-every" : "--offspring", std::to_string(was.offspring),
       std::to_string(like.offspring)},
      {"--max-in-flight", std::to_string(max_in_flight_of(was)),
       std::to_string(max_in_flight_of(like))},
  }};
  for (const auto& [option, old_value, new_value] : fixed) {
    if (is_given(resumption, option) && old_value != new_value) {
      throw InputError(option + " " + new_value + ": run " + std::to_string(run.id) +
                       " can only be continued with its own value, " + old_value);
    }
  }
}

/// Says how the newest unfinished run differs from this command line; empty if there is none.
std::string why_another(const Store& store, const RunInfo& like) {
  const std::vector<StoredRun> runs = store.runs();
  const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const StoredRun& run) {
    return run.status != RunStatus::kFinished && !difference(run.info, like).empty();
  });
  if (found == runs.rend()) return {};
  return "; run " + std::to_string(found->id) + ", which is not finished, is on " +
         difference(found->info, like);
}

/// Finds the stored runs that --resume continues, one for each shape.
std::vector<StoredRun> runs_to_resume(const Store& store, const std::vector<RunInfo>& like,
                                      const Resumption& resumption) {
  RunId id = resumption.id;
  if (id == 0) {
    const std::optional<RunId> found = store.find_resumable(like.front());
    if (!found) {
      throw InputError("--resume: " + resumption.db +
                       " has no unfinished run on this space, problem, shape and device" +
                       why_another(store, like.front()));
    }
    id = *found;
  }
  std::vector<StoredRun> runs;
  std::string shapes;
  for (const RunId beside : store.runs_beside(id)) {
    runs.push_back(store.run(beside));
    shapes += (shapes.empty() ? "" : ",") + runs.back().info.shape;
  }
  if (runs.size() != like.size()) {
    throw InputError("--resume: run " + std::to_string(id) + " is over shape " + shapes +
                     "; give --shape " + shapes);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) require_same(runs[i], like[i], resumption);
  return runs;
}

std::vector<RunInfo> run_infos(const Workbench& bench, const RunRequest& request) {
  std::vector<RunInfo> infos;
  for (std::size_t at = 0; at < bench.task().shape_count(); ++at) {
    infos.push_back(run_info(bench, request, at));
  }
  return infos;
}

/// The stored evaluations of a run, without long texts that a resumed run does not need.
std::vector<StoredEvaluation> recorded_evaluations(const Store& store, RunId run) {
  std::vector<StoredEvaluation> history;
  store.for_each_evaluation(run, [&](StoredEvaluation evaluation) {
    evaluation.record.manifest_json = {};
    evaluation.record.checks = {};
    if (evaluation.record.rejection) evaluation.record.rejection->detail = {};
    history.push_back(std::move(evaluation));
  });
  return history;
}

}  // namespace

std::size_t OpenRun::kept() const {
  std::size_t most = 0;
  for (const RunHistory& history : histories) most = std::max(most, history.evaluations.size());
  return most;
}

OpenRun begin_run(Store& store, const Workbench& bench, const RunRequest& request) {
  (void)make_strategy(request.tuner.strategy, bench.task().space(),
                      {});  // rejects an unknown name early
  RunRequest begun = request;
  if (request.warm_start)
    begun.tuner.known = find_known(store, bench.task(), request.tuner.offspring);
  return {store.start_runs(run_infos(bench, begun)), begun.tuner};
}

OpenRun continue_run(Store& store, Workbench& bench, const RunRequest& request,
                     const Resumption& resumption) {
  const std::vector<StoredRun> were = runs_to_resume(store, run_infos(bench, request), resumption);
  const StoredRun& was = were.front();
  // Uses the seeds and options of the stored run, so that it continues as if uninterrupted.
  auto options = OrderedJson::parse(was.info.options_json);
  OpenRun run{{}, request.tuner};
  run.tuner.seed = was.info.seed;
  run.tuner.strategy = was.info.strategy;
  run.tuner.elite = static_cast<std::size_t>(was.info.elite_size);
  run.tuner.offspring = static_cast<std::size_t>(was.info.offspring);
  run.tuner.max_in_flight = max_in_flight_of(was.info);
  run.tuner.known = known_from(bench, options);
  if (!is_given(resumption, "--count")) {
    run.tuner.candidates = options.value("candidates", kAnyNumber);
  }
  if (!is_given(resumption, "--generations")) {
    run.tuner.generations = options.value("generations", request.tuner.generations);
  }
  options["generations"] = run.tuner.generations;
  for (const StoredRun& one : were) {
    run.ids.push_back(store.resume_run(one.id, options.dump()).id);
    run.histories.push_back({recorded_evaluations(store, one.id), store.generations(one.id)});
  }
  bench.use_check_seed(options.value("check_seed", request.check_seed));
  return run;
}

}  // namespace evo
