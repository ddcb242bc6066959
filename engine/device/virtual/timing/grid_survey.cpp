#include "engine/device/virtual/timing/grid_survey.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace evo::ptx {
namespace {

/// Limit of the warp instructions that slices of the kernel execute for one prediction.
constexpr std::uint64_t kMostSurveyed = std::uint64_t{1} << 22;
constexpr std::uint64_t kStartOfWarp = 32;  ///< cost of starting a warp, in instructions
constexpr std::uint64_t kFirstCtas = 256;

}  // namespace

std::vector<std::uint64_t> CtaDraw::next(std::uint64_t count) {
  count = std::min<std::uint64_t>(count, ctas_ - drawn_.size());
  std::vector<std::uint64_t> chosen;
  const auto take = [&](std::uint64_t cta) {
    if (chosen.size() < count && drawn_.insert(cta).second) chosen.push_back(cta);
  };
  take(0);
  take(ctas_ - 1);
  if (drawn_.size() + count > ctas_ / 2) {
    std::vector<std::uint64_t> left;
    for (std::uint64_t cta = 0; cta < ctas_; ++cta) {
      if (!drawn_.contains(cta)) left.push_back(cta);
    }
    for (std::size_t i = 0; i < left.size() && chosen.size() < count; ++i) {
      std::swap(left[i], left[i + random_.below(left.size() - i)]);
      take(left[i]);
    }
  }
  while (chosen.size() < count) take(random_.below(ctas_));
  std::ranges::sort(chosen);
  return chosen;
}

GridSurvey::GridSurvey(std::vector<CtaWay> ways) {
  std::ranges::sort(ways, {}, &CtaWay::cta);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>> groups;
  for (const CtaWay& way : ways) groups[{way.work, way.signature}].push_back(way.cta);
  for (auto& [key, ctas] : groups) {
    for (const std::uint64_t cta : ctas) ways_.push_back({cta, groups_.size()});
    groups_.push_back(std::move(ctas));
  }
  std::ranges::sort(ways_, {}, &Place::cta);
}

std::size_t GridSurvey::group_of(std::uint64_t cta) const {
  auto found = std::ranges::lower_bound(ways_, cta, {}, &Place::cta);
  if (found == ways_.end()) return ways_.back().group;
  if (found != ways_.begin() && found->cta != cta) {
    const auto before = found - 1;
    if (cta - before->cta < found->cta - cta) found = before;
  }
  return found->group;
}

std::optional<GridSurvey> survey_grid(std::uint64_t ctas, std::uint64_t seed, int warps_per_cta,
                                      const ExecuteCtas& execute_slice) {
  CtaDraw draw(ctas, seed);
  std::vector<CtaWay> ways;
  std::uint64_t work = 0;
  for (std::uint64_t more = std::min(kFirstCtas, ctas); more > 0;) {
    const auto executed = execute_slice(draw.next(more));
    const auto* counts = std::get_if<GridCounts>(&executed);
    if (counts == nullptr) return std::nullopt;
    ways.insert(ways.end(), counts->ways.begin(), counts->ways.end());
    work += counts->warp_instructions +
            counts->ctas * kStartOfWarp * static_cast<std::uint64_t>(warps_per_cta);
    const std::uint64_t left = kMostSurveyed - std::min(kMostSurveyed, work);
    more = std::min<std::uint64_t>(left / (work / ways.size() + 1), ctas - ways.size());
  }
  return GridSurvey(std::move(ways));
}

}  // namespace evo::ptx
