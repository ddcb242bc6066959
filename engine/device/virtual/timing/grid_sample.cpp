#include "engine/device/virtual/timing/grid_sample.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace evo::ptx {
namespace {

constexpr std::uint64_t kFewCtas = 8;
constexpr std::size_t kMostGroups = 16;

/// Chooses groups of CTAs and, in each group, the CTAs to execute. The groups are sorted by their
/// work per CTA, in ascending order.
std::vector<std::vector<std::uint64_t>> chosen_ctas(const GridToSample& grid) {
  const auto& groups = grid.survey->groups();
  const std::size_t count = std::min(groups.size(), kMostGroups);
  const auto members = [&](std::size_t i) -> const std::vector<std::uint64_t>& {
    return groups[count < 2 ? 0 : i * (groups.size() - 1) / (count - 1)];
  };
  std::vector<std::vector<std::uint64_t>> chosen;
  std::size_t largest = 0;
  Random random(grid.seed);
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back({members(i)[random.below(members(i).size())]});
    if (members(i).size() > members(largest).size()) largest = i;
  }
  const auto& most = members(largest);
  const std::uint64_t wanted =
      std::min<std::uint64_t>(std::max<std::uint64_t>(kFewCtas, count) - count + 1, most.size());
  std::set<std::uint64_t> more(chosen[largest].begin(), chosen[largest].end());
  while (more.size() < wanted) more.insert(most[random.below(most.size())]);
  chosen[largest].assign(more.begin(), more.end());
  return chosen;
}

std::variant<ExecutedGrid, Fault> execute_groups(const GridToSample& grid) {
  auto chosen = chosen_ctas(grid);
  std::vector<std::uint64_t> sample;
  for (const auto& ctas : chosen) sample.insert(sample.end(), ctas.begin(), ctas.end());
  std::ranges::sort(sample);
  auto executed = grid.execute(std::move(sample));
  if (auto* fault = std::get_if<Fault>(&executed)) return std::move(*fault);
  ExecutedGrid result{.counts = std::get<GridCounts>(std::move(executed)), .ctas = grid.ctas};
  const std::size_t groups = grid.survey->groups().size();
  result.like = [survey = grid.survey, chosen = std::move(chosen), groups](std::uint64_t cta) {
    const std::size_t place =
        groups < 2
            ? 0
            : (survey->group_of(cta) * (chosen.size() - 1) + (groups - 1) / 2) / (groups - 1);
    return chosen[place][cta % chosen[place].size()];
  };
  return result;
}

}  // namespace

std::variant<ExecutedGrid, Fault> execute_sample(const GridToSample& grid) {
  if (grid.survey != nullptr) return execute_groups(grid);
  constexpr std::array<std::uint64_t, 3> kSamples = {kFewCtas, 64, ~std::uint64_t{0}};
  CtaDraw draw(grid.ctas, grid.seed);
  ExecutedGrid result{.counts = {}, .ctas = grid.ctas};
  GridCounts& counts = result.counts;
  std::uint64_t drawn = 0;
  for (const std::uint64_t sample : kSamples) {
    std::uint64_t more = std::min(sample, grid.ctas) - drawn;
    if (counts.ctas > 0) {
      const std::uint64_t mean = std::max<std::uint64_t>(counts.warp_instructions / counts.ctas, 1);
      const std::uint64_t left =
          grid.most_work - std::min(grid.most_work, counts.warp_instructions);
      more = std::min(more, left / mean);
    }
    if (more == 0) break;
    drawn += more;
    auto executed = grid.execute(draw.next(more));
    if (auto* fault = std::get_if<Fault>(&executed)) return std::move(*fault);
    counts += std::get<GridCounts>(executed);
    if (!differ(counts)) break;
  }
  return result;
}

}  // namespace evo::ptx
