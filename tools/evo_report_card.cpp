#include "tools/evo_report_card.hpp"

#include "db/device_rows.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered figure(const std::optional<double>& value) { return value ? Ordered(*value) : Ordered(); }

Ordered profile_json(const ProfileRow& row) {
  Ordered metrics = Ordered::array();
  for (const ProfileMetricRow& metric : row.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"metric", metric.metric},
                       {"value", metric.value},
                       {"unit", metric.unit}});
  }
  return {{"candidate", row.candidate}, {"kind", row.kind},     {"tool", row.tool},
          {"require", row.require},     {"passed", row.passed}, {"metrics", std::move(metrics)}};
}

}  // namespace

Ordered card_of_run(const Store& store, const StoredRun& run) {
  Ordered card = Ordered::array();
  for (const CardRow& row : card_rows(store, run)) {
    card.push_back({{"candidate", row.candidate},
                    {"sm_clock_min_mhz", figure(row.sm_clock_min_mhz)},
                    {"sm_clock_median_mhz", figure(row.sm_clock_median_mhz)},
                    {"temperature_c", figure(row.temperature_c)},
                    {"power_w", figure(row.power_w)},
                    {"slowdowns", Ordered::parse(row.slowdowns_json)},
                    {"discarded", row.discarded},
                    {"throttled", row.throttled},
                    {"others", Ordered::parse(row.others_json)}});
  }
  Ordered energy = Ordered::array();
  for (const EnergyRow& row : energy_rows(store, run)) {
    energy.push_back({{"candidate", row.candidate},
                      {"launch_mj", row.launch_mj},
                      {"power_w", row.power_w},
                      {"window_s", row.window_s},
                      {"complete", row.complete}});
  }
  Ordered profiles = Ordered::array();
  for (const ProfileRow& row : profile_rows(store, run)) profiles.push_back(profile_json(row));
  return {{"card", card}, {"energy", energy}, {"profiles", profiles}};
}

}  // namespace evo
