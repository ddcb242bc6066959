#include "tools/bundle/cover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace evo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(const TimeTable& times, double loss)
      : times_(times), shapes_(times.empty() ? 0 : times.front().size()) {
    for (std::size_t shape = 0; shape < shapes_; ++shape) {
      double best = kNever;
      for (const auto& kernel : times) best = std::min(best, kernel[shape].value_or(kNever));
      if (best == kNever) throw std::invalid_argument("a shape without any time");
      best_.push_back(best);
      allowed_.emplace_back();
      for (std::size_t kernel = 0; kernel < times.size(); ++kernel) {
        if (times[kernel][shape].value_or(kNever) <= best * (1 + loss)) {
          allowed_.back().push_back(kernel);
        }
      }
      // Tries the fastest kernel of a shape first, so that the search finds a good set of kernels
      // early.
      std::ranges::stable_sort(allowed_.back(), {},
                               [&](std::size_t kernel) { return *times[kernel][shape]; });
    }
  }

  KernelOfShape run() {
    extend();
    KernelOfShape served;
    for (std::size_t shape = 0; shape < shapes_; ++shape) served.push_back(fastest(found_, shape));
    return served;
  }

 private:
  [[nodiscard]] double time(std::size_t kernel, std::size_t shape) const {
    return times_[kernel][shape].value_or(kNever);
  }
  [[nodiscard]] std::size_t fastest(const std::vector<std::size_t>& kernels,
                                    std::size_t shape) const {
    return *std::ranges::min_element(kernels, {},
                                     [&](std::size_t kernel) { return time(kernel, shape); });
  }
  [[nodiscard]] bool is_served(std::size_t shape) const {
    return std::ranges::any_of(allowed_[shape], [&](std::size_t kernel) {
      return std::ranges::find(chosen_, kernel) != chosen_.end();
    });
  }

  /// Logarithm of the product of (time with the chosen kernels / best time) over all shapes.
  [[nodiscard]] double price() const {
    double sum = 0;
    for (std::size_t shape = 0; shape < shapes_; ++shape) {
      sum += std::log(time(fastest(chosen_, shape), shape) / best_[shape]);
    }
    return sum;
  }

  void extend() {
    std::size_t next = shapes_;
    for (std::size_t shape = 0; shape < shapes_; ++shape) {
      const bool is_harder = next == shapes_ || allowed_[shape].size() < allowed_[next].size();
      if (is_harder && !is_served(shape)) next = shape;
    }
    if (next == shapes_) return keep();
    const bool can_win = found_.empty() || chosen_.size() < found_.size();
    if (!can_win) return;
    for (const std::size_t kernel : allowed_[next]) {
      if (++trials_ > kMostTrials && !found_.empty()) return;
      chosen_.push_back(kernel);
      extend();
      chosen_.pop_back();
    }
  }

  void keep() {
    const double price = this->price();
    const bool is_better = found_.empty() || chosen_.size() < found_.size() ||
                           (chosen_.size() == found_.size() && price < price_);
    if (!is_better) return;
    found_ = chosen_;
    price_ = price;
  }

  const TimeTable& times_;
  std::size_t shapes_;
  std::vector<double> best_;
  std::vector<std::vector<std::size_t>> allowed_;  ///< of each shape, fastest first
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> found_;
  double price_ = kNever;
  std::size_t trials_ = 0;
};

}  // namespace

KernelOfShape fewest_kernels(const TimeTable& times, double loss) {
  return Search(times, loss).run();
}

}  // namespace evo
