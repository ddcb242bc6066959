#include "engine/core/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace evo {

std::vector<std::size_t> order_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

namespace {

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

double kendall(std::span<const double> a, std::span<const double> b) {
  double together = 0;
  double apart = 0;
  double ties_a = 0;
  double ties_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double product = (a[i] - a[j]) * (b[i] - b[j]);
      together += product > 0 ? 1 : 0;
      apart += product < 0 ? 1 : 0;
      ties_a += a[i] == a[j] && b[i] != b[j] ? 1 : 0;
      ties_b += a[i] != a[j] && b[i] == b[j] ? 1 : 0;
    }
  }
  const double pairs = together + apart;
  const double scale = std::sqrt((pairs + ties_a) * (pairs + ties_b));
  return scale > 0 ? (together - apart) / scale : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace evo
