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

/// The set of all assignments that satisfy some constraints, as a layered decision diagram. The
/// diagram counts the assignments, tests membership and finds the assignment of a rank without
/// listing the set.
///
///   1. Order the parameters so that unfinished constraints need few assigned ones in each layer.
///   2. Layer by layer, expand each node by each value. Merge partial assignments that agree on the
///      parameters that unfinished constraints need. Check a constraint when its last parameter is
///      assigned.
///   3. Bottom up, count the assignments below each node, and remove nodes without any.
///
/// A set of 2^62 assignments or more is called huge. In a huge set, a rank is the seed of a uniform
/// draw instead of an index.
class DecisionDiagram {
 public:
  /// Returns nullopt if the diagram would exceed `max_edges`. `value_counts`: number of values of
  /// each parameter, ≥ 1.
  [[nodiscard]] static std::optional<DecisionDiagram> build(
      std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints,
      std::size_t max_edges);

  /// The diagram of a list of assignments in any order, possibly with duplicates.
  [[nodiscard]] static DecisionDiagram of(std::span<const std::size_t> value_counts,
                                          std::vector<Candidate> assignments);

  /// The number of ranks: the number of assignments, or 2^62 if the set is huge.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool is_huge() const { return is_huge_; }
  /// The number of assignments as a double, rounded and saturated.
  [[nodiscard]] double size() const;
  [[nodiscard]] bool contains(const Candidate& candidate) const;
  /// `rank` < count(). Neighbouring ranks differ mostly in the last parameters of the order.
  [[nodiscard]] Candidate at(std::uint64_t rank) const;
  [[nodiscard]] std::size_t edge_count() const;

 private:
  struct Layer {
    std::size_t parameter = 0;
    std::size_t values = 0;
    /// for each node and value: node of the next layer, or kNone
    std::vector<std::uint32_t> child;
    std::vector<std::uint64_t> counts;  ///< for each node, at most 2^62
    /// in a huge set: number of assignments below each node, relative to the layer's largest number
    std::vector<double> weights;
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

/// The order in which build() assigns parameters: the cheapest of the greedy orders that begin with
/// different parameters.
[[nodiscard]] std::vector<std::size_t> assignment_order(
    std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints);

}  // namespace evo
