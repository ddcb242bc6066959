#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/space/decision_diagram.hpp"

namespace evo {
namespace {

/// Which parameters each constraint still waits for, while an order grows.
class Frontier {
 public:
  Frontier(std::span<const std::size_t> value_counts,
           std::span<const Constraint* const> constraints)
      : value_counts_(value_counts),
        constraints_(constraints),
        assigned_(value_counts.size(), false) {}

  void assign(std::size_t parameter) { assigned_[parameter] = true; }
  [[nodiscard]] bool is_assigned(std::size_t parameter) const { return assigned_[parameter]; }

  /// ln of the most nodes the next layer can have if `parameter` is assigned next.
  [[nodiscard]] double cost_of(std::size_t parameter) {
    assigned_[parameter] = true;
    std::vector<bool> needed(value_counts_.size(), false);
    for (const Constraint* constraint : constraints_) {
      const auto scope = constraint->scope();
      const bool finished =
          std::all_of(scope.begin(), scope.end(), [&](std::size_t p) { return assigned_[p]; });
      if (finished) continue;
      for (const std::size_t p : scope) needed[p] = needed[p] || assigned_[p];
    }
    double cost = 0;
    for (std::size_t p = 0; p < needed.size(); ++p) {
      if (needed[p]) cost += std::log(static_cast<double>(value_counts_[p]));
    }
    assigned_[parameter] = false;
    return cost;
  }

 private:
  std::span<const std::size_t> value_counts_;
  std::span<const Constraint* const> constraints_;
  std::vector<bool> assigned_;
};

struct Order {
  std::vector<std::size_t> parameters;
  double nodes = 0;  ///< bound of all layers together
};

Order greedy_order(std::size_t start, std::span<const std::size_t> value_counts,
                   std::span<const Constraint* const> constraints) {
  Frontier frontier(value_counts, constraints);
  Order order;
  std::size_t next = start;
  while (true) {
    order.nodes += std::exp(frontier.cost_of(next));
    order.parameters.push_back(next);
    frontier.assign(next);
    if (order.parameters.size() == value_counts.size()) return order;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < value_counts.size(); ++p) {
      if (frontier.is_assigned(p)) continue;
      const double cost = frontier.cost_of(p);
      if (cost < best - 1e-9) {
        best = cost;
        next = p;
      }
    }
  }
}

}  // namespace

std::vector<std::size_t> assignment_order(std::span<const std::size_t> value_counts,
                                          std::span<const Constraint* const> constraints) {
  Order best = greedy_order(0, value_counts, constraints);
  for (std::size_t start = 1; start < value_counts.size(); ++start) {
    Order order = greedy_order(start, value_counts, constraints);
    if (order.nodes < best.nodes * (1 - 1e-9)) best = std::move(order);
  }
  return best.parameters;
}

}  // namespace evo
