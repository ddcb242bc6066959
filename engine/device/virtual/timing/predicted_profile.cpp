#include "engine/device/virtual/timing/predicted_profile.hpp"

#include <algorithm>

#include "engine/predict/sm_simulation.hpp"

namespace evo::ptx {
namespace {

constexpr double kPercent = 100;

/// Utilisation of DRAM in percent of the GPU's peak rate. The time model attains at most the
/// fraction MachineRates::dram_reached of this rate.
double dram_percent(const PredictedLaunch& launch) {
  const LaunchProfile& profile = launch.profile;
  const MachineRates& rates = launch.rates;
  if (profile.fresh_bytes + profile.rotation_bytes <= rates.l2_capacity) return 0;
  const double bytes_per_us = rates.dram_bytes * rates.sms * rates.clock_mhz;
  return std::min(kPercent * rates.dram_reached * profile.fresh_bytes / bytes_per_us / launch.us,
                  kPercent);
}

}  // namespace

std::map<std::string, double> predicted_profile(const std::vector<PredictedLaunch>& launches) {
  std::map<std::string, double> percent;
  double all_us = 0;
  for (const PredictedLaunch& launch : launches) {
    if (!launch.is_simulated) return {};
    SmActivity activity;
    (void)simulate_sm(launch.rates, launch.profile, launch.occupancy.ctas_per_sm, &activity);
    const auto busy = [&](Unit unit) { return activity.busy[static_cast<std::size_t>(unit)]; };
    const auto add = [&](const char* metric, double value) {
      percent[metric] += value * launch.us;
    };
    add("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        kPercent * (busy(Unit::kTensor) + busy(Unit::kGmma)));
    add("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", kPercent * busy(Unit::kFma));
    add("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", kPercent * busy(Unit::kAlu));
    add("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
        kPercent * busy(Unit::kTransform));
    add("l1tex__throughput.avg.pct_of_peak_sustained_active", kPercent * activity.memory_busy);
    add("dram__throughput.avg.pct_of_peak_sustained_elapsed", dram_percent(launch));
    all_us += launch.us;
  }
  for (auto& [metric, value] : percent) value /= all_us;
  return percent;
}

}  // namespace evo::ptx
