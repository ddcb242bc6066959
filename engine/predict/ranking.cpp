#include "engine/predict/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/statistics.hpp"

namespace evo {
namespace {

std::vector<std::size_t> order_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

std::vector<double> ranks_of(std::span<const double> values) {
  const std::vector<std::size_t> order = order_of(values);
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last) / 2;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = rank;
    first = last + 1;
  }
  return ranks;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a);
  const std::vector<double> y = ranks_of(b);
  const double mean_rank = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_rank) * (y[i] - mean_rank);
    xx += (x[i] - mean_rank) * (x[i] - mean_rank);
    yy += (y[i] - mean_rank) * (y[i] - mean_rank);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

RankScore rank_score(std::span<const double> measured, std::span<const double> predicted) {
  constexpr double kNear = 2;
  constexpr std::size_t kShortlist = 16;
  if (measured.empty() || measured.size() != predicted.size())
    throw InputError("a score needs as many predicted as measured times, and at least one");
  const double best = *std::ranges::min_element(measured);
  std::vector<double> near_measured;
  std::vector<double> near_predicted;
  std::vector<double> errors;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    errors.push_back(std::abs(predicted[i] / measured[i] - 1));
    if (measured[i] > kNear * best) continue;
    near_measured.push_back(measured[i]);
    near_predicted.push_back(predicted[i]);
  }
  std::ranges::sort(errors);
  const std::vector<std::size_t> order = order_of(predicted);
  double of_shortlist = measured[order.front()];
  for (std::size_t i = 0; i < std::min(kShortlist, order.size()); ++i)
    of_shortlist = std::min(of_shortlist, measured[order[i]]);
  return {measured.size(),
          near_measured.size(),
          spearman(measured, predicted),
          spearman(near_measured, near_predicted),
          quantile(errors, 0.5),
          measured[order.front()] / best - 1,
          of_shortlist / best - 1};
}

}  // namespace evo
