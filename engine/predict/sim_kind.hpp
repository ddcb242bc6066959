#pragma once

#include <utility>
#include <vector>

#include "engine/predict/cta_barriers.hpp"
#include "engine/predict/launch_profile.hpp"
#include "engine/predict/warp_path.hpp"

namespace evo {

/// The data of a group of similar CTAs in the form that the simulation of an SM needs.
struct SimKind {
  SimKind(const CtaKind& kind, std::vector<WarpPlan> of_warps)
      : plans(std::move(of_warps)),
        syncs(&kind.syncs),
        needed(needed_arrivals(kind.syncs)),
        does_fit(fit(plans, kind.lines)) {
    for (const WarpPlan& plan : plans) instructions += plan.instructions;
  }

  std::vector<WarpPlan> plans;  ///< a plan for each warp of a CTA
  const std::vector<std::vector<SyncEvent>>* syncs;
  NeededArrivals needed;
  bool does_fit;
  double instructions = 0;  ///< number of instructions of a CTA
};

}  // namespace evo
