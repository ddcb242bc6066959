#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "db/records.hpp"

namespace evo {

/// A candidate's result at the profile gate, as shown by evo-elite, evo-judge and reports:
/// "metrics" has one key for each metric, the name that problem.json gives it, with the profiler's
/// name, the value and the unit.
[[nodiscard]] inline nlohmann::ordered_json profile_json(const ProfileRecord& profile) {
  nlohmann::ordered_json json = {{"kind", std::string(to_string(profile.kind))},
                                 {"tool", profile.tool},
                                 {"require", profile.require},
                                 {"passed", profile.passed},
                                 {"metrics", nlohmann::ordered_json::object()}};
  for (const ProfileMetric& metric : profile.metrics) {
    json["metrics"][metric.name] = {
        {"metric", metric.metric}, {"value", metric.value}, {"unit", metric.unit}};
  }
  return json;
}

}  // namespace evo
