#include "engine/device/virtual/timing/grid_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <queue>

namespace evo::ptx {
namespace {

constexpr double kAlike = 1.1;
/// limit of the number of CTAs of a grid that are scheduled one by one; in a larger grid, each
/// scheduled CTA represents several
constexpr std::uint64_t kMostListed = 1 << 16;

double mean_work(const CtaCounts& counts) {
  return static_cast<double>(counts.all_work) /
         static_cast<double>(std::max<std::uint64_t>(counts.ctas, 1));
}

/// Divides the CTAs of a grid into kinds: the CTAs of a kind have about the same work
/// (GridCounts::work).
class Kinds {
 public:
  explicit Kinds(const ExecutedGrid& grid) : grid_(grid) {
    double least = 0;  // mean work of the first level of the last kind
    for (const auto& [level, counts] : grid.counts.levels) {
      if (kinds_.empty() || mean_work(counts) > kAlike * least) {
        least = mean_work(counts);
        kinds_.emplace_back();
      }
      kinds_.back() += counts;
      of_level_[level] = static_cast<std::uint16_t>(kinds_.size() - 1);
    }
  }

  [[nodiscard]] std::uint16_t of(std::uint64_t cta) const {
    const auto& work = grid_.counts.work;
    const auto found = work.find(grid_.like ? grid_.like(cta) : nearest(cta));
    return of_level_.at(work_level(found->second));
  }
  [[nodiscard]] const std::vector<CtaCounts>& kinds() const { return kinds_; }

 private:
  [[nodiscard]] std::uint64_t nearest(std::uint64_t cta) const {
    const auto& work = grid_.counts.work;
    const auto behind = work.lower_bound(cta);
    if (behind == work.end()) return std::prev(behind)->first;
    if (behind == work.begin() || behind->first == cta) return behind->first;
    const std::uint64_t before = std::prev(behind)->first;
    return cta - before <= behind->first - cta ? before : behind->first;
  }

  const ExecutedGrid& grid_;
  std::vector<CtaCounts> kinds_;
  std::map<int, std::uint16_t> of_level_;
};

/// Schedules CTAs on the SMs of a GPU, assuming that a CTA's time is proportional to its work
/// (GridCounts::work). A place is room for one CTA on an SM.
class Places {
 public:
  Places(int sms, int resident) : of_sm_(static_cast<std::size_t>(sms)) {
    for (int place = 0; place < resident; ++place) {
      for (std::size_t sm = 0; sm < of_sm_.size(); ++sm)
        free_.push({0, static_cast<std::size_t>(place) * of_sm_.size() + sm});
    }
  }

  void hand_out(std::uint16_t kind, double work) {
    const auto [start, place] = free_.top();
    free_.pop();
    const std::size_t sm = place % of_sm_.size();
    of_sm_[sm].push_back(kind);
    free_.push({start + work, place});
    if (start + work <= end_) return;
    end_ = start + work;
    last_ = {.kinds = {}, .last = kind, .last_start = start};
    last_sm_ = sm;
  }

  [[nodiscard]] LastSm last_sm() const {
    LastSm result = last_;
    result.kinds = of_sm_[last_sm_];
    result.last_start /= std::max(end_, 1.0);
    return result;
  }

 private:
  using Place = std::pair<double, std::size_t>;  ///< the time from which it is free; its number
  std::priority_queue<Place, std::vector<Place>, std::greater<>> free_;
  std::vector<std::vector<std::uint16_t>> of_sm_;
  double end_ = 0;
  LastSm last_;
  std::size_t last_sm_ = 0;
};

/// The kinds of the CTAs on the slowest SM, in the order in which it runs them, if the CTAs of each
/// kind are spread evenly over the SMs. For each kind, the slowest SM runs as many CTAs of this
/// kind and of longer kinds as an SM runs on average, rounded up. The first CTA is a long one, and
/// the golden ratio spreads the long CTAs over the order in which the slowest SM runs its CTAs.
std::vector<std::uint16_t> dealt_kinds(const std::vector<double>& shares, double ctas_per_sm,
                                       std::size_t count) {
  constexpr double kGolden = 0.6180339887;
  constexpr double kRounding = 1e-9;
  std::vector<std::pair<double, std::size_t>> turns;
  for (std::size_t i = 0; i < count; ++i) {
    const double turn = static_cast<double>(i) * kGolden;
    turns.emplace_back(turn - std::floor(turn), i);
  }
  std::ranges::sort(turns);
  std::vector<std::uint16_t> dealt(count);
  std::size_t done = 0;
  double share = 0;  // share of CTAs of this kind and of longer kinds
  for (std::size_t kind = shares.size(); kind-- > 0;) {
    share += shares[kind];
    const auto until = static_cast<std::size_t>(std::ceil(share * ctas_per_sm - kRounding));
    for (; done < std::min(until, count); ++done)
      dealt[turns[done].second] = static_cast<std::uint16_t>(kind);
  }
  return dealt;
}

GridKinds kinds_by_arrival(const ExecutedGrid& grid, std::vector<CtaCounts> kinds, int sms,
                           int resident) {
  GridKinds result{.counts = std::move(kinds), .shares = {}, .last_sm = {}};
  for (const CtaCounts& counts : result.counts) {
    result.shares.push_back(static_cast<double>(counts.ctas) /
                            static_cast<double>(grid.counts.ctas));
  }
  const double all = std::ceil(static_cast<double>(grid.ctas) / sms);
  const double listed = std::min(all, static_cast<double>(kMostListed));
  Places places(1, resident);
  for (const std::uint16_t kind :
       dealt_kinds(result.shares, static_cast<double>(grid.ctas) / sms * listed / all,
                   static_cast<std::size_t>(listed)))
    places.hand_out(kind, mean_work(result.counts[kind]));
  result.last_sm = places.last_sm();
  result.last_sm.each = all / listed;
  return result;
}

}  // namespace

bool differ(const GridCounts& counts) {
  if (counts.work.empty()) return false;
  const auto [least, most] = std::ranges::minmax_element(
      counts.work, {}, [](const auto& of_cta) { return of_cta.second; });
  return static_cast<double>(most->second) > kAlike * static_cast<double>(least->second);
}

GridKinds kinds_of_grid(const ExecutedGrid& grid, int sms, int resident) {
  if (!differ(grid.counts)) return {{grid.counts}, {1.0}, {}};
  const Kinds kinds(grid);
  if (grid.by_arrival) return kinds_by_arrival(grid, kinds.kinds(), sms, std::max(resident, 1));
  GridKinds result{
      .counts = kinds.kinds(), .shares = std::vector<double>(kinds.kinds().size()), .last_sm = {}};
  const std::uint64_t listed = std::min(grid.ctas, kMostListed);
  Places places(sms, std::max(resident, 1));
  for (std::uint64_t i = 0; i < listed; ++i) {
    const auto cta = static_cast<std::uint64_t>(
        static_cast<double>(i) * static_cast<double>(grid.ctas) / static_cast<double>(listed));
    const std::uint16_t kind = kinds.of(cta);
    result.shares[kind] += 1 / static_cast<double>(listed);
    places.hand_out(kind, mean_work(result.counts[kind]));
  }
  result.last_sm = places.last_sm();
  result.last_sm.each = static_cast<double>(grid.ctas) / static_cast<double>(listed);
  // If no scheduled CTA is of the longest kind, the CTA that finishes last is assumed to be of this
  // kind and to take the whole time.
  if (result.shares.back() == 0) {
    result.last_sm.last = static_cast<std::uint16_t>(result.shares.size() - 1);
    result.last_sm.last_start = 0;
  }
  return result;
}

}  // namespace evo::ptx
