#include "engine/intake/nearest_valid.hpp"

#include <algorithm>
#include <limits>

namespace evo {
namespace {

using Choice = std::vector<std::uint16_t>;

class Search {
 public:
  Search(const std::vector<Parameter>& parameters, const std::vector<Constraint>& constraints)
      : parameters_(parameters), constraints_(constraints) {
    for (const Parameter& parameter : parameters) {
      choice_.push_back(static_cast<std::uint16_t>(parameter.default_index));
    }
  }

  std::optional<Choice> run() {
    constexpr int kMostChanges = 4;
    for (int changes = 0; changes <= kMostChanges && !best_; ++changes) change(0, changes, 0);
    return best_;
  }

 private:
  [[nodiscard]] bool is_valid() const {
    return std::all_of(constraints_.begin(), constraints_.end(),
                       [&](const Constraint& constraint) { return constraint.holds(choice_); });
  }

  /// Tries all configurations that change `left` more parameters, among those from index `first`
  /// on.
  void change(std::size_t first, int left, std::size_t distance) {
    if (distance >= best_distance_ || tried_ > kMostTried) return;
    if (left == 0) {
      ++tried_;
      if (is_valid()) {
        best_ = choice_;
        best_distance_ = distance;
      }
      return;
    }
    for (std::size_t p = first; p < parameters_.size(); ++p) {
      const std::uint16_t before = choice_[p];
      for (std::size_t v = 0; v < parameters_[p].values.size(); ++v) {
        if (v == before) continue;
        choice_[p] = static_cast<std::uint16_t>(v);
        change(p + 1, left - 1, distance + (v > before ? v - before : before - v));
      }
      choice_[p] = before;
    }
  }

  static constexpr std::size_t kMostTried = 20'000'000;

  const std::vector<Parameter>& parameters_;
  const std::vector<Constraint>& constraints_;
  Choice choice_;
  std::optional<Choice> best_;
  std::size_t best_distance_ = std::numeric_limits<std::size_t>::max();
  std::size_t tried_ = 0;
};

}  // namespace

std::optional<std::vector<std::uint16_t>> nearest_valid(
    const std::vector<Parameter>& parameters, const std::vector<Constraint>& constraints) {
  return Search(parameters, constraints).run();
}

}  // namespace evo
