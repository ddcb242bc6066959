#include "engine/coordinator/steadiness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

/// On a card of its own the control stays within 2 %, and p90 within 3 % of p50.
constexpr double kMostDrift = 0.05;
constexpr double kMostScatter = 1.10;

}  // namespace

std::string steadiness_text(const std::vector<StoredGeneration>& generations,
                            const std::vector<EliteRow>& elite) {
  double lowest = 0;
  double highest = 0;
  for (const StoredGeneration& generation : generations) {
    lowest = std::min(lowest, generation.record.control_drift.value_or(0));
    highest = std::max(highest, generation.record.control_drift.value_or(0));
  }
  double scatter = 1;
  for (const EliteRow& row : elite) {
    if (row.kind == TimeKind::kMeasured) scatter = std::max(scatter, row.p90_us / row.p50_us);
  }
  const bool steady = -lowest <= kMostDrift && highest <= kMostDrift && scatter <= kMostScatter;
  if (steady) return {};
  return fmt::format(
      "CANNOT TELL: the device did not keep its pace (the control's time drifted from {:+.1f} to "
      "{:+.1f} %, p90 of the elite is up to {:.2f} times p50): another process may have used it, "
      "or "
      "it throttled; times and the order of the elite are not to be trusted, run again on a quiet "
      "device\n",
      lowest * 100, highest * 100, scatter);
}

}  // namespace evo
