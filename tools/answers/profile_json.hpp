#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "db/records.hpp"

namespace evo {

/// A candidate's result at the profile gate, as shown by evo-elite, evo-judge and reports. The keys
/// of "metrics" are the names that problem.json gives to the metrics; each value has the profiler's
/// name of the metric, its value and its unit.
[[nodiscard]] inline nlohmann::ordered_json profile_json(const ProfileRecord& profile) {
  nlohmann::ordered_json json = {{"kind", to_string(profile.kind)},
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
