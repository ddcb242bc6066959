#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/core/random.hpp"
#include "engine/space/constraint.hpp"

namespace evo {

/// The set of all assignments that satisfy some constraints, as a layered decision diagram:
/// counting, membership and access by rank without ever listing the set.
///
///   1. Order the parameters so that few assigned ones are still needed by unfinished constraints.
///   2. Layer by layer, expand each node by each value; two partial assignments that agree on what
///      unfinished constraints still need are one node; a constraint is checked when its last
///      parameter is assigned.
///   3. Bottom up, count the assignments below each node; nodes without any are cut off.
///
/// A set of 2^62 assignments or more is huge: they have no ranks of their own, and a rank is the
/// seed of a uniform draw.
class DecisionDiagram {
 public:
  /// Nothing when the diagram would exceed `max_edges`. `value_counts`: of each parameter, ≥ 1.
  [[nodiscard]] static std::optional<DecisionDiagram> build(
      std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints,
      std::size_t max_edges);

  /// The set of these assignments, in any order, each once or more often.
  [[nodiscard]] static DecisionDiagram of(std::span<const std::size_t> value_counts,
                                          std::vector<Candidate> assignments);

  /// The number of ranks: of the assignments, or 2^62 when it is huge.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool is_huge() const { return is_huge_; }
  /// The number of assignments, rounded; at most the largest double.
  [[nodiscard]] double size() const;
  [[nodiscard]] bool contains(const Candidate& candidate) const;
  /// `rank` < count(). Neighbouring ranks differ mostly in the last parameters of the order.
  [[nodiscard]] Candidate at(std::uint64_t rank) const;
  [[nodiscard]] std::size_t edge_count() const;

 private:
  struct Layer {
    std::size_t parameter = 0;
    std::size_t values = 0;
    std::vector<std::uint32_t> child;   ///< per node and value: node of the next layer, or kNone
    std::vector<std::uint64_t> counts;  ///< per node, at most 2^62
    std::vector<double> weights;        ///< per node of a huge set, the largest one 1
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::uint64_t below(std::size_t layer, std::uint32_t child) const;
  void count_up();
  void weigh();
  [[nodiscard]] Candidate drawn(Random random) const;

  std::vector<Layer> layers_;
  std::uint64_t count_ = 0;
  bool is_huge_ = false;
  double log2_count_ = 0;

  friend class DiagramBuilder;
  friend class TableBuilder;
};

/// The order in which build() assigns parameters (greedy from each start, the cheapest kept).
[[nodiscard]] std::vector<std::size_t> assignment_order(
    std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints);

}  // namespace evo
