#include "engine/evolve/kernel.hpp"

#include <cmath>

#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

/// The Matérn covariance at a scaled distance (Rasmussen and Williams, Gaussian Processes for
/// Machine Learning, equations 4.17 and 4.18).
double matern(double distance, Smoothness smoothness) {
  if (smoothness == Smoothness::kJumps) return portable_exp(-distance);
  const double scaled = std::sqrt(3.0) * distance;
  return (1 + scaled) * portable_exp(-scaled);
}

/// The table of the covariances of a parameter's m values. The covariance of the values i and j
/// depends only on j − i, so entry m − 1 + j − i holds it.
std::vector<float> make_table(const KernelDimension& dimension, const KernelShape& shape,
                              Smoothness smoothness) {
  const std::size_t m = dimension.values;
  std::vector<float> table(2 * m - 1);
  for (std::size_t apart = 0; apart < m; ++apart) {
    double similar = apart == 0 ? 1 : 0;
    if (dimension.ordered && apart > 0) {
      const double distance = static_cast<double>(apart) / static_cast<double>(m - 1);
      similar = matern(distance / shape.length, smoothness);
    }
    const auto value = static_cast<float>(1 - shape.relevance + shape.relevance * similar);
    table[m - 1 + apart] = value;
    table[m - 1 - apart] = value;
  }
  return table;
}

}  // namespace

Kernel::Kernel(std::vector<KernelDimension> dimensions, std::vector<KernelShape> shapes,
               Smoothness smoothness)
    : dimensions_(std::move(dimensions)), shapes_(std::move(shapes)), smoothness_(smoothness) {
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    tables_.push_back(make_table(dimensions_[d], shapes_[d], smoothness_));
  }
}

void Kernel::set_shape(std::size_t dimension, KernelShape shape) {
  shapes_[dimension] = shape;
  tables_[dimension] = make_table(dimensions_[dimension], shape, smoothness_);
}

void Kernel::row(std::span<const std::uint16_t> point, std::span<const std::uint16_t> points,
                 std::span<float> result) const {
  const std::size_t d = dimensions_.size();
  std::vector<const float*> tables(d);
  for (std::size_t k = 0; k < d; ++k) {
    tables[k] = tables_[k].data() + (dimensions_[k].values - 1 - point[k]);
  }
  const std::uint16_t* other = points.data();
  for (float& value : result) {
    float product = 1;
    for (std::size_t k = 0; k < d; ++k) product *= tables[k][other[k]];
    value = product;
    other += d;
  }
}

Encoding::Encoding(const CandidateSpace& space) {
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    if (space.value_count(p) < 2) continue;
    active_.push_back(p);
    dimensions_.push_back({space.value_count(p), space.is_ordered(p)});
  }
}

void Encoding::append(const Candidate& candidate, std::vector<std::uint16_t>& points) const {
  for (const std::size_t p : active_) points.push_back(candidate.choice[p]);
}

}  // namespace evo
