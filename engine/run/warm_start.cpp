#include "engine/run/warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

/// Only this many of the newest runs in the database are examined.
constexpr std::size_t kMostRuns = 64;

struct Source {
  RunId run = 0;
  double distance = 0;  ///< see distance_to()
  bool same_device = false;
  std::vector<Candidate> best = {};
};

/// The distance between the shape of an earlier run (`variables`: its shape variables) and the
/// nearest shape of the task: the sum of |ln(value / value of the run)| over the shape variables.
/// If one of the two values is not positive, the summand is 0 for equal and 1 for different values.
double distance_to(const TuningTask& task, const Json& variables) {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < task.shape_count(); ++at) {
    double distance = 0;
    for (const auto& [name, value] : task.shape(at).variables) {
      const auto found = variables.find(name);
      const double other =
          found != variables.end() && found->is_number() ? found->get<double>() : 0;
      const bool scales = value > 0 && other > 0;
      distance += scales ? std::abs(std::log(value / other)) : (value == other ? 0 : 1);
    }
    nearest = std::min(nearest, distance);
  }
  return nearest;
}

bool is_allowed(const TuningTask& task, const Candidate& candidate) {
  for (std::size_t at = 0; at < task.shape_count(); ++at) {
    if (task.space(at).violated(candidate) == nullptr) return true;
  }
  return false;
}

/// Converts a configuration of an earlier run to the task's space; nullopt if the space lacks a
/// value of the configuration or forbids the configuration on all shapes.
std::optional<Candidate> carried_over(const TuningTask& task, const std::string& config_json) {
  const Space& space = task.space();
  std::vector<std::pair<std::string, std::string>> settings;
  const Json config = parse_json(config_json, "configuration");
  for (const auto& [macro, value] : config.items()) {
    const auto known = std::ranges::find(space.parameters(), macro, &Parameter::macro);
    if (known == space.parameters().end()) continue;
    settings.emplace_back(macro, value.is_string() ? value.get<std::string>() : value.dump());
  }
  try {
    Candidate candidate = space.candidate_from_settings(settings, space.defaults());
    if (is_allowed(task, candidate)) return candidate;
  } catch (const SpaceError&) {
    // The task's space lacks a value of the configuration, so the configuration is left out.
  }
  return std::nullopt;
}

/// The elite of an earlier run, as candidates of the task's space; nullopt if the run is on another
/// problem or template, or if its stored files cannot be read.
std::optional<Source> source_of(const Store& store, const TuningTask& task, const StoredRun& run) {
  if (run.info.problem.name != task.problem().name) return std::nullopt;
  try {
    const Json space = parse_json(run.info.space.text, "space");
    if (space.value("template", "") != task.kernel().name) return std::nullopt;
    const Json problem = parse_json(run.info.problem.text, "problem");
    Source source{run.id};
    source.distance = distance_to(task, problem.at("shapes").at(run.info.shape).at("variables"));
    source.same_device = run.info.device.name == task.device().name;
    for (const EliteRow& row : elite_of_run(store, run.id)) {
      if (auto candidate = carried_over(task, row.config_json)) {
        source.best.push_back(std::move(*candidate));
      }
    }
    return source;
  } catch (const InputError&) {
    return std::nullopt;  // another version of evo-tune stored files in another format
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::vector<Source> sources(const Store& store, const TuningTask& task) {
  std::vector<StoredRun> runs = store.runs();
  std::ranges::reverse(runs);
  if (runs.size() > kMostRuns) runs.resize(kMostRuns);
  std::vector<Source> found;
  for (const StoredRun& run : runs) {
    if (auto source = source_of(store, task, run)) found.push_back(std::move(*source));
  }
  std::ranges::stable_sort(found, {}, [](const Source& source) {
    return std::tuple(source.distance, !source.same_device, -source.run);
  });
  return found;
}

}  // namespace

std::vector<KnownCandidate> find_known(const Store& store, const TuningTask& task,
                                       std::size_t most) {
  const std::vector<Source> from = sources(store, task);
  std::size_t longest = 0;
  for (const Source& source : from) longest = std::max(longest, source.best.size());
  std::vector<KnownCandidate> known;
  for (std::size_t rank = 0; rank < longest; ++rank) {
    for (const Source& source : from) {
      if (known.size() == most) return known;
      if (rank >= source.best.size()) continue;
      const Candidate& candidate = source.best[rank];
      const bool is_new = std::ranges::none_of(
          known, [&](const KnownCandidate& one) { return one.candidate == candidate; });
      if (is_new) known.push_back({candidate, source.run});
    }
  }
  return known;
}

}  // namespace evo
