#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// A parameter the model looks at.
struct KernelDimension {
  std::size_t values = 2;
  bool ordered = true;
};

/// What the kernel assumes of one parameter.
struct KernelShape {
  double relevance = 0.6;  ///< 0 … 1: how much of the variation needs this parameter
  double length = 0.5;     ///< of an ordered parameter, as a share of its range
};

/// A covariance function of candidates: the product over the parameters of
/// (1 − r) + r·exp(−|i − j| / ((m − 1)·length)) for ordered ones and of 1 − r for other names that
/// differ. Expanding the product gives every interaction of every order, with weights that fall
/// with the order. All of it sits in one table for each parameter.
class Kernel {
 public:
  Kernel(std::vector<KernelDimension> dimensions, std::vector<KernelShape> shapes);

  [[nodiscard]] const std::vector<KernelDimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] const std::vector<KernelShape>& shapes() const { return shapes_; }
  /// Replaces what is assumed of one dimension.
  void set_shape(std::size_t dimension, KernelShape shape);

  /// Covariances of `point` with each of `points` (all encoded, see Encoding), 1 for itself.
  void row(std::span<const std::uint16_t> point, std::span<const std::uint16_t> points,
           std::span<float> result) const;

 private:
  std::vector<KernelDimension> dimensions_;
  std::vector<KernelShape> shapes_;
  std::vector<std::vector<float>> tables_;  ///< by distance, see make_table()
};

/// Leaves out parameters with a single value.
class Encoding {
 public:
  explicit Encoding(const CandidateSpace& space);
  [[nodiscard]] std::size_t size() const { return active_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& active() const { return active_; }
  [[nodiscard]] const std::vector<KernelDimension>& dimensions() const { return dimensions_; }
  /// Appends the encoded candidate.
  void append(const Candidate& candidate, std::vector<std::uint16_t>& points) const;

 private:
  std::vector<std::size_t> active_;
  std::vector<KernelDimension> dimensions_;
};

}  // namespace evo
