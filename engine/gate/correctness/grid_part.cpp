#include "engine/gate/correctness/grid_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/random.hpp"

namespace evo {
namespace {

constexpr std::uint64_t kFewestCtas = 8;

/// The position of a CTA in one dimension of the grid: 0 for first, 2 for last, 1 for any other.
std::uint32_t place_in(std::uint64_t at, std::uint32_t size) {
  if (at == 0) return 0;
  return at + 1 == size ? 2 : 1;
}

}  // namespace

std::vector<std::uint64_t> draw_part(const LoadedKernel& kernel, const CheckCase& data,
                                     double share) {
  const Values values = merged({&kernel.macros, &data.values});
  if (kernel.spec->independent_ctas.evaluate(values) == 0) return {};
  const LaunchPlan plan = kernel.launch_for(data);
  if (plan.steps.size() != 1) return {};
  const std::uint64_t total = plan.ctas();
  const double of_all = std::ceil(static_cast<double>(total) * std::min(share, 1.0));
  const std::uint64_t wanted = std::max(static_cast<std::uint64_t>(of_all), kFewestCtas);
  if (wanted >= total) return {};
  const std::array<std::uint32_t, 3>& grid = plan.steps.front().config.grid;
  std::map<std::array<std::uint32_t, 3>, std::vector<std::uint64_t>> places;
  for (std::uint64_t cta = 0; cta < total; ++cta) {
    const std::uint64_t row = cta / grid[0];
    places[{place_in(cta % grid[0], grid[0]), place_in(row % grid[1], grid[1]),
            place_in(row / grid[1], grid[2])}]
        .push_back(cta);
  }
  Random random(mix_seed(data.seed, total));
  std::vector<std::uint64_t> drawn;
  for (auto& [where, ctas] : places) {
    const double part =
        static_cast<double>(wanted) * static_cast<double>(ctas.size()) / static_cast<double>(total);
    const auto count =
        std::min(std::max<std::size_t>(static_cast<std::size_t>(part), 1), ctas.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(ctas[i], ctas[i + random.below(ctas.size() - i)]);
      drawn.push_back(ctas[i]);
    }
  }
  std::ranges::sort(drawn);
  return drawn;
}

}  // namespace evo
