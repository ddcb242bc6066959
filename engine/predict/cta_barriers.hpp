#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/predict/machine_rates.hpp"
#include "engine/predict/sync_event.hpp"
#include "engine/predict/wait_clocks.hpp"

namespace evo {

/// For each pair of a barrier and a phase: the number of arrivals that complete the phase, which is
/// the number of arrivals of all warps of the CTA.
using NeededArrivals = std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t>;

[[nodiscard]] inline NeededArrivals needed_arrivals(
    const std::vector<std::vector<SyncEvent>>& events_of_warps) {
  NeededArrivals needed;
  for (const auto& events : events_of_warps) {
    for (const SyncEvent& event : events) {
      if (event.arrives >= 0) needed[{event.barrier, event.arrives}] += event.count;
    }
  }
  return needed;
}

[[nodiscard]] inline bool is_named(std::uint32_t barrier) { return barrier < 16; }

[[nodiscard]] inline Wait wait_at(std::uint32_t barrier) {
  return is_named(barrier) ? Wait::kBarrier : Wait::kMbarrier;
}

/// The barriers of one CTA in the time model's simulation of an SM. Times are in clocks.
class CtaBarriers {
 public:
  /// Records an arrival. If the arrival completes its phase, returns the time of completion;
  /// otherwise nullopt.
  std::optional<double> arrive(const SyncEvent& event, double at, const NeededArrivals& needed,
                               const MachineRates& rates) {
    Phase& phase = phases_[{event.barrier, event.arrives}];
    phase.arrived += event.count;
    phase.last = std::max(phase.last, at);
    const auto found = needed.find({event.barrier, event.arrives});
    if (phase.is_complete || (found != needed.end() && phase.arrived < found->second))
      return std::nullopt;
    phase.is_complete = true;
    phase.last += is_named(event.barrier) ? rates.barrier_latency : rates.mbarrier_latency;
    return phase.last;
  }

  /// The time at which the phase that `event` waits for was completed; nullopt if the phase is
  /// incomplete.
  [[nodiscard]] std::optional<double> completed(const SyncEvent& event) const {
    const auto found = phases_.find({event.barrier, event.awaits});
    if (found == phases_.end() || !found->second.is_complete) return std::nullopt;
    return found->second.last;
  }

  void clear() { phases_.clear(); }

 private:
  struct Phase {
    std::uint32_t arrived = 0;
    double last = 0;  ///< time of the last arrival; once complete, of completion
    bool is_complete = false;
  };
  std::map<std::pair<std::uint32_t, std::int64_t>, Phase> phases_;
};

/// A CTA in the time model's simulation of an SM.
struct SimCta {
  std::vector<std::size_t> warps = {};  ///< indices of the CTA's warps
  std::size_t alive = 0;                ///< number of warps that still run
  std::size_t kind = 0;                 ///< index into LaunchProfile::kinds
  CtaBarriers barriers = {};
};

}  // namespace evo
