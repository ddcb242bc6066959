#include "engine/gate/grid_part.hpp"

#include <cmath>

namespace evo {

std::optional<GridPart> grid_part(Device& device, const Problem& problem,
                                  const LoadedKernel& kernel, const CheckCase& data, double flops) {
  const Values values = merged({&kernel.macros, &data.values});
  if (kernel.spec->independent_ctas.evaluate(values) == 0) return std::nullopt;
  if (device.sampler()->claims_work(kernel.id)) return std::nullopt;
  const LaunchPlan plan = kernel.launch_for(data);
  if (plan.steps.size() != 1) return std::nullopt;
  GridPart part{plan.ctas()};
  const double share = flops / problem.flops.evaluate(data.shape->variables);
  part.of_work = static_cast<std::uint64_t>(std::ceil(static_cast<double>(part.ctas) * share));
  return part;
}

}  // namespace evo
