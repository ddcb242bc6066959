#include "engine/run/steadiness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

/// Limits of the control's drift and of p90 / p50. On a GPU that no other process uses, the drift
/// is at most 2 %, and p90 is at most 3 % above p50.
constexpr double kMostDrift = 0.05;
constexpr double kMostScatter = 1.10;

}  // namespace

bool ControlDrift::is_steady() const { return -lowest <= kMostDrift && highest <= kMostDrift; }

ControlDrift control_drift(const std::vector<StoredGeneration>& generations) {
  ControlDrift drift;
  for (const StoredGeneration& generation : generations) {
    if (!generation.record.control_drift) continue;
    ++drift.times;
    drift.lowest = std::min(drift.lowest, *generation.record.control_drift);
    drift.highest = std::max(drift.highest, *generation.record.control_drift);
  }
  return drift;
}

std::string steadiness_text(const std::vector<StoredGeneration>& generations,
                            const std::vector<EliteRow>& elite) {
  const ControlDrift drift = control_drift(generations);
  double scatter = 1;
  for (const EliteRow& row : elite) {
    if (row.kind == TimeKind::kMeasured) scatter = std::max(scatter, row.p90_us / row.p50_us);
  }
  if (drift.is_steady() && scatter <= kMostScatter) return {};
  return fmt::format(
      "UNRELIABLE: the device was not steady (the control's time drifted from {:+.1f} to "
      "{:+.1f} %, p90 of the elite is up to {:.2f} times p50): another process may have used it, "
      "or "
      "it throttled; do not trust the times and the order of the elite; repeat the run on an idle "
      "device\n",
      drift.lowest * 100, drift.highest * 100, scatter);
}

}  // namespace evo
