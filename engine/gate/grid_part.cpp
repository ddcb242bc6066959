#include "engine/gate/grid_part.hpp"

#include <algorithm>
#include <cmath>
#include <set>

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

std::vector<std::uint64_t> twins_of_first(const LaunchConfig& config) {
  const std::uint64_t total = config.ctas();
  std::set<std::uint64_t> twins;
  const auto add_line = [&](std::uint64_t size, std::uint64_t stride) {
    for (std::uint64_t at = 1; at < size; at *= 2) twins.insert(at * stride);
    if (size % 2 == 0) twins.insert(size / 2 * stride);
  };
  std::uint64_t stride = 1;
  for (const std::uint64_t size : config.grid) {
    add_line(size, stride);
    stride *= size;
  }
  add_line(total, 1);
  return {twins.begin(), twins.end()};
}

std::vector<std::uint64_t> with_twins(const std::vector<std::uint64_t>& drawn,
                                      std::vector<std::uint64_t> twins,
                                      const std::vector<std::uint64_t>& kept, Random& random) {
  const auto shuffle = [&random](std::vector<std::uint64_t>& ctas) {
    for (std::size_t i = 0; i + 1 < ctas.size(); ++i) {
      std::swap(ctas[i], ctas[i + random.below(ctas.size() - i)]);
    }
  };
  shuffle(twins);
  // Of one CTA it is a twin now and then.
  const std::size_t most = (drawn.size() + random.below(2)) / 2;
  twins.resize(std::min(twins.size(), most));
  std::set<std::uint64_t> all(twins.begin(), twins.end());
  for (const std::uint64_t cta : kept) {
    if (std::ranges::find(drawn, cta) != drawn.end()) all.insert(cta);
  }
  std::vector<std::uint64_t> others = drawn;
  shuffle(others);
  for (const std::uint64_t cta : others) {
    if (all.size() < drawn.size()) all.insert(cta);
  }
  return {all.begin(), all.end()};
}

std::string state_of_part(const Device& device, const LoadedKernel& kernel,
                          const Workspace& workspace) {
  return device.variables_hash(kernel.id).value_or("") + workspace.content_hash();
}

}  // namespace evo
