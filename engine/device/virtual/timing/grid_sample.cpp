#include "engine/device/virtual/timing/grid_sample.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace evo::ptx {

std::vector<std::uint64_t> CtaDraw::next(std::uint64_t count) {
  count = std::min(count, ctas_ - drawn_.size());
  std::vector<std::uint64_t> chosen;
  const auto take = [&](std::uint64_t cta) {
    if (chosen.size() < count && drawn_.insert(cta).second) chosen.push_back(cta);
  };
  take(0);
  take(ctas_ - 1);
  if (drawn_.size() - chosen.size() + 2 * count > ctas_) {
    // Most are taken: among those that are left.
    std::vector<std::uint64_t> left;
    for (std::uint64_t cta = 0; cta < ctas_; ++cta) {
      if (!drawn_.contains(cta)) left.push_back(cta);
    }
    for (std::size_t i = 0; chosen.size() < count; ++i) {
      std::swap(left[i], left[i + random_.below(left.size() - i)]);
      take(left[i]);
    }
  }
  while (chosen.size() < count) take(random_.below(ctas_));
  std::ranges::sort(chosen);
  return chosen;
}

std::variant<ExecutedGrid, Fault> execute_sample(std::uint64_t ctas, std::uint64_t seed,
                                                 const ExecuteCtas& execute,
                                                 std::uint64_t most_work) {
  constexpr std::array<std::uint64_t, 3> kSamples = {8, 64, ~std::uint64_t{0}};
  CtaDraw draw(ctas, seed);
  ExecutedGrid grid{.counts = {}, .ctas = ctas};
  for (const std::uint64_t sample : kSamples) {
    std::uint64_t more = std::min(sample, ctas) - grid.counts.ctas;
    if (grid.counts.ctas > 0) {
      const std::uint64_t mean =
          std::max<std::uint64_t>(grid.counts.warp_instructions / grid.counts.ctas, 1);
      const std::uint64_t left = most_work - std::min(most_work, grid.counts.warp_instructions);
      more = std::min(more, left / mean);
    }
    if (more == 0) break;
    auto executed = execute(draw.next(more));
    if (auto* fault = std::get_if<Fault>(&executed)) return std::move(*fault);
    grid.counts += std::get<GridCounts>(executed);
    if (!differ(grid.counts)) break;
  }
  return grid;
}

}  // namespace evo::ptx
