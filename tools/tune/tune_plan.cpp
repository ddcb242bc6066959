#include "tools/tune/tune_plan.hpp"

#include <algorithm>

#include "engine/run/stored_command.hpp"

namespace evo {
namespace {

/// The default of --offspring. A search for several shapes shares outcomes between the shapes, so
/// it needs fewer candidates than separate searches.
std::size_t default_offspring(std::size_t shapes) {
  constexpr std::size_t kOfOneShape = 8;
  return kOfOneShape + (shapes - 1);
}

/// The build with the shape of this run; the first build if no build has the shape.
const ShapesOfBuild& build_of(const std::vector<ShapesOfBuild>& builds, const StoredRun& run) {
  const auto found = std::ranges::find_if(builds, [&](const ShapesOfBuild& build) {
    return std::ranges::count(build.shapes, run.info.shape) > 0;
  });
  return found != builds.end() ? *found : builds.front();
}

/// Data of a new run of each search, on its first shape.
std::vector<RunInfo> first_runs(const std::vector<ShapesOfBuild>& builds,
                                const WorkbenchOptions& bench, const DeviceInfo& device,
                                const RunRequest& request) {
  std::vector<RunInfo> infos;
  for (const ShapesOfBuild& build : builds) {
    try {
      const TuningTask task(bench.space_file, build.names(), device, false);
      infos.push_back(run_infos(task, request, {}).front());
    } catch (const Error& error) {
      throw Error(error.exit_code(), "--shape " + build.names() + ": " + error.what());
    }
  }
  return infos;
}

}  // namespace

std::vector<PlannedSearch> plan_searches(const Store& store, const WorkbenchOptions& bench,
                                         const DeviceInfo& device, RunRequest request,
                                         const TuneOptions& options) {
  const std::vector<ShapesOfBuild> builds = builds_of(bench.space_file, bench.shape);
  const std::optional<Resumption>& resume = options.resume;
  bool has_offspring = options.has_offspring;
  const auto planned = [&](const ShapesOfBuild& build) {
    PlannedSearch search{build, request};
    if (!has_offspring) search.request.tuner.offspring = default_offspring(build.shapes.size());
    return search;
  };
  if (builds.size() == 1 || (resume && resume->id > 0)) {
    const bool is_named = resume && resume->id > 0;
    PlannedSearch only =
        planned(is_named ? build_of(builds, store.run(resume->id)) : builds.front());
    only.resume = resume;
    return {only};
  }
  for (const ShapesOfBuild& build : builds) request.searches.push_back(build.names());
  // Fails now rather than after the first searches if a search cannot be made.
  const std::vector<RunInfo> infos = first_runs(builds, bench, device, request);
  std::optional<StoredCommand> stored;
  if (resume) {
    stored = find_unfinished_command(store, request, infos, *resume);
    const std::vector<StoredRun>& begun = stored->begun();
    request = stored_request(begun.front().info, request, *resume);
    request.group = stored->group;
    has_offspring = request.tuner.offspring != default_offspring(begun.size());
  }
  std::vector<PlannedSearch> searches;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    PlannedSearch& search = searches.emplace_back(planned(builds[i]));
    if (!stored || stored->searches[i].empty()) continue;
    if (stored->is_finished(i)) {
      for (const StoredRun& run : stored->searches[i]) search.finished.push_back(run.id);
    } else {
      search.resume = resume;
      search.resume->id = stored->searches[i].front().id;
    }
  }
  return searches;
}

}  // namespace evo
