#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// One dimension of the model: a parameter of the space that has at least two values.
struct KernelDimension {
  std::size_t values = 2;
  bool ordered = true;
};

/// The hyperparameters of the covariance kernel for one parameter.
struct KernelShape {
  /// relevance, 0 … 1: the share of the variance that depends on this parameter
  double relevance = 0.6;
  double length = 0.5;  ///< length scale of an ordered parameter, as a share of its range
};

/// How the modelled function may change along an ordered parameter. kJumps: suddenly, with Matérn
/// covariance ν = 1/2, exp(−d); kSlopes: gradually, with ν = 3/2, (1 + √3·d)·exp(−√3·d).
enum class Smoothness { kJumps, kSlopes };

/// A covariance function of two candidates: the product of a factor for each parameter. For the
/// values i and j of an ordered parameter with m values and relevance r, the factor is (1 − r) +
/// r·M(d), with the Matérn covariance M and d = |i − j| / ((m − 1)·length). For an unordered
/// parameter, the factor is 1 − r for different values and 1 for equal values. The product covers
/// interactions of any number of parameters, with weights that decrease with that number. Tables
/// hold the factors, so that row() computes no exponentials.
class Kernel {
 public:
  Kernel(std::vector<KernelDimension> dimensions, std::vector<KernelShape> shapes,
         Smoothness smoothness);

  [[nodiscard]] const std::vector<KernelDimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] const std::vector<KernelShape>& shapes() const { return shapes_; }
  /// Replaces the hyperparameters of one parameter.
  void set_shape(std::size_t dimension, KernelShape shape);

  /// The covariances of `point` with each of `points` (encoded by Encoding); 1 for equal points.
  void row(std::span<const std::uint16_t> point, std::span<const std::uint16_t> points,
           std::span<float> result) const;

 private:
  std::vector<KernelDimension> dimensions_;
  std::vector<KernelShape> shapes_;
  Smoothness smoothness_;
  std::vector<std::vector<float>> tables_;  ///< factors by distance, see make_table()
};

/// Encodes candidates for the model as the indices of their values, without the parameters that
/// have a single value.
class Encoding {
 public:
  explicit Encoding(const CandidateSpace& space);
  [[nodiscard]] std::size_t size() const { return active_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& active() const { return active_; }
  [[nodiscard]] const std::vector<KernelDimension>& dimensions() const { return dimensions_; }
  /// Appends the encoded `candidate` to `points`.
  void append(const Candidate& candidate, std::vector<std::uint16_t>& points) const;

 private:
  std::vector<std::size_t> active_;
  std::vector<KernelDimension> dimensions_;
};

}  // namespace evo
