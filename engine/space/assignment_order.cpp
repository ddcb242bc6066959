#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/space/decision_diagram.hpp"

namespace evo {
namespace {

/// The state of a greedy search for an order of the parameters: the assigned parameters and, for
/// each constraint, the number of its parameters that are not assigned yet. Costs are updated
/// incrementally, so that a thousand parameters are ordered quickly.
class Frontier {
 public:
  Frontier(std::span<const std::size_t> value_counts,
           std::span<const Constraint* const> constraints)
      : constraints_(constraints),
        constraints_of_(value_counts.size()),
        waiting_for_(constraints.size()),
        unfinished_(value_counts.size(), 0),
        finishing_(value_counts.size(), 0),
        assigned_(value_counts.size(), false) {
    for (const std::size_t count : value_counts) {
      logs_.push_back(std::log(static_cast<double>(count)));
    }
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      waiting_for_[c] = constraints[c]->scope().size();
      for (const std::size_t p : constraints[c]->scope()) {
        constraints_of_[p].push_back(c);
        ++unfinished_[p];
      }
    }
  }

  [[nodiscard]] bool is_assigned(std::size_t parameter) const { return assigned_[parameter]; }

  void assign(std::size_t parameter) {
    cost_ = cost_of(parameter);
    assigned_[parameter] = true;
    for (const std::size_t c : constraints_of_[parameter]) {
      if (--waiting_for_[c] > 0) continue;
      for (const std::size_t p : constraints_[c]->scope()) --unfinished_[p];
    }
  }

  /// ln of the largest possible number of nodes in the next layer of the DecisionDiagram if
  /// `parameter` is assigned next: the product of the numbers of values of the assigned parameters
  /// that unfinished constraints need.
  [[nodiscard]] double cost_of(std::size_t parameter) {
    double cost = cost_;
    bool is_needed = false;
    for (const std::size_t c : constraints_of_[parameter]) {
      is_needed = is_needed || waiting_for_[c] > 1;
      if (waiting_for_[c] > 1) continue;
      for (const std::size_t p : constraints_[c]->scope()) {
        if (p != parameter && ++finishing_[p] == unfinished_[p]) cost -= logs_[p];
      }
    }
    for (const std::size_t c : constraints_of_[parameter]) {
      if (waiting_for_[c] > 1) continue;
      for (const std::size_t p : constraints_[c]->scope()) finishing_[p] = 0;
    }
    return is_needed ? cost + logs_[parameter] : cost;
  }

 private:
  std::span<const Constraint* const> constraints_;
  std::vector<double> logs_;  ///< for each parameter: ln of the number of its values
  std::vector<std::vector<std::size_t>> constraints_of_;
  /// for each constraint: the number of its unassigned parameters
  std::vector<std::size_t> waiting_for_;
  /// for each parameter: the number of its constraints that have unassigned parameters
  std::vector<std::size_t> unfinished_;
  /// in cost_of(), for each parameter: the number of its constraints that the assignment finishes
  std::vector<std::size_t> finishing_;
  std::vector<bool> assigned_;
  double cost_ = 0;
};

struct Order {
  std::vector<std::size_t> parameters;
  double nodes = 0;  ///< upper bound of the number of nodes in all layers
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

/// The number of greedy orders to try, each beginning with a different parameter. In large spaces,
/// this is less than the number of parameters, to limit the time.
std::size_t starts_to_try(std::size_t parameters, std::span<const Constraint* const> constraints) {
  constexpr std::size_t kMostSteps = 20'000'000;
  std::size_t steps = parameters;
  for (const Constraint* constraint : constraints) {
    steps += constraint->scope().size() * constraint->scope().size();
  }
  return std::clamp<std::size_t>(kMostSteps / (steps * parameters), 1, parameters);
}

}  // namespace

std::vector<std::size_t> assignment_order(std::span<const std::size_t> value_counts,
                                          std::span<const Constraint* const> constraints) {
  Order best = greedy_order(0, value_counts, constraints);
  const std::size_t starts = starts_to_try(value_counts.size(), constraints);
  for (std::size_t start = 1; start < starts; ++start) {
    Order order = greedy_order(start, value_counts, constraints);
    if (order.nodes < best.nodes * (1 - 1e-9)) best = std::move(order);
  }
  return best.parameters;
}

}  // namespace evo
