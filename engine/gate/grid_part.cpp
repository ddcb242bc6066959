#include "engine/gate/grid_part.hpp"

#include <cmath>

namespace evo {

std::optional<GridPart> grid_part(Device& device, const Problem& problem,
                                  const LoadedKernel& kernel, const CheckCase& data, double flops) {
  const Values values = merged({&kernel.macros, &data.values});
  if (kernel.spec->independent_ctas.evaluate(values) == 0) return std::nullopt;
  if (device.sampler()->claims_work(kernel.id)) return std::nullopt;
  const LaunchConfig config = kernel.launch_for(data);
  GridPart part{std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2]};
  const double share = flops / problem.flops.evaluate(data.shape->variables);
  part.of_work = static_cast<std::uint64_t>(std::ceil(static_cast<double>(part.ctas) * share));
  return part;
}

}  // namespace evo
