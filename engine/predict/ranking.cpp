#include "engine/predict/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/rank_correlation.hpp"
#include "engine/core/statistics.hpp"

namespace evo {

RankScore rank_score(std::span<const double> measured, std::span<const double> predicted) {
  constexpr double kNear = 2;
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
  RankScore score;
  score.kernels = measured.size();
  score.near = near_measured.size();
  score.spearman = spearman(measured, predicted);
  score.spearman_near = spearman(near_measured, near_predicted);
  score.kendall = kendall(measured, predicted);
  score.kendall_near = kendall(near_measured, near_predicted);
  score.median_error = quantile(errors, 0.5);
  score.loss = measured[order.front()] / best - 1;
  for (std::size_t s = 0; s < kShortlists.size(); ++s) {
    double fastest = measured[order.front()];
    for (std::size_t i = 0; i < std::min(kShortlists[s], order.size()); ++i)
      fastest = std::min(fastest, measured[order[i]]);
    score.loss_of_shortlist[s] = fastest / best - 1;
  }
  return score;
}

}  // namespace evo
