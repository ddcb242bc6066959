#include "tools/answers/milestones.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace evo {

std::vector<bool> builds_on_before(const std::vector<MilestoneResult>& results) {
  std::vector<bool> builds;
  nlohmann::json first;
  std::set<std::string> changed_before;
  for (const MilestoneResult& result : results) {
    const nlohmann::json config = nlohmann::json::parse(result.evaluation.config_json);
    if (builds.empty()) first = config;
    std::set<std::string> changed;
    for (const auto& [macro, value] : config.items()) {
      if (first.value(macro, nlohmann::json()) != value) changed.insert(macro);
    }
    builds.push_back(std::ranges::includes(changed, changed_before));
    changed_before = std::move(changed);
  }
  return builds;
}

}  // namespace evo
