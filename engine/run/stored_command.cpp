#include "engine/run/stored_command.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using Searches = std::vector<std::string>;

/// The shapes of the run's search as RunRequest::searches names them.
std::string shapes_of(const nlohmann::json& options, const RunInfo& info) {
  std::string names;
  for (const std::string& shape : options.value("shapes", Searches{info.shape})) {
    names += (names.empty() ? "" : ",") + shape;
  }
  return names;
}

/// All commands that made these searches, in the order of their first runs.
std::vector<StoredCommand> commands_of(const Store& store, const Searches& searches) {
  std::vector<StoredCommand> commands;
  for (StoredRun& run : store.runs()) {
    const auto options = nlohmann::json::parse(run.info.options_json);
    const auto search = std::ranges::find(searches, shapes_of(options, run.info));
    if (options.value("searches", Searches()) != searches || search == searches.end()) continue;
    const auto group = options.at("group").get<std::string>();
    auto command = std::ranges::find(commands, group, &StoredCommand::group);
    if (command == commands.end()) {
      command = commands.insert(command, {group, {}});
      command->searches.resize(searches.size());
    }
    command->searches[static_cast<std::size_t>(search - searches.begin())].push_back(
        std::move(run));
  }
  return commands;
}

bool is_like(const StoredCommand& command, const std::vector<RunInfo>& likes) {
  for (std::size_t i = 0; i < likes.size(); ++i) {
    const std::vector<StoredRun>& runs = command.searches[i];
    if (!runs.empty() && !difference(runs.front().info, likes[i]).empty()) return false;
  }
  return true;
}

}  // namespace

bool StoredCommand::is_finished(std::size_t search) const {
  const std::vector<StoredRun>& runs = searches.at(search);
  return !runs.empty() && std::ranges::all_of(runs, [](const StoredRun& run) {
    return run.status == RunStatus::kFinished;
  });
}

const std::vector<StoredRun>& StoredCommand::begun() const {
  return *std::ranges::find_if(searches, [](const auto& runs) { return !runs.empty(); });
}

StoredCommand find_unfinished_command(const Store& store, const RunRequest& request,
                                      const std::vector<RunInfo>& likes,
                                      const Resumption& resumption) {
  std::vector<StoredCommand> commands = commands_of(store, request.searches);
  const auto found = std::find_if(commands.rbegin(), commands.rend(), [&](const auto& command) {
    for (std::size_t i = 0; i < likes.size(); ++i) {
      if (!command.is_finished(i)) return is_like(command, likes);
    }
    return false;
  });
  if (found == commands.rend()) {
    throw InputError("--resume: " + resumption.db +
                     " has no unfinished searches for these shapes on this space, problem and "
                     "device" +
                     why_another(store, likes.front()));
  }
  for (std::size_t i = 0; i < likes.size(); ++i) {
    if (!found->searches[i].empty()) {
      require_same(found->searches[i].front(), likes[i], resumption);
    }
  }
  return std::move(*found);
}

}  // namespace evo
