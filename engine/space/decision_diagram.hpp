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

/// The set of all assignments of values to parameters that satisfy some constraints, as a layered
/// decision diagram. The diagram counts the assignments, tests whether the set contains an
/// assignment, and finds the assignment of a rank, without listing the set.
///
///   1. Order the parameters so that, in each layer, unfinished constraints (those with unassigned
///      parameters) need few of the assigned parameters.
///   2. Layer by layer, extend each node by each value of the layer's parameter. Merge partial
///      assignments that agree on the parameters that unfinished constraints need. Check a
///      constraint when its last parameter is assigned.
///   3. From the last layer to the first, count the assignments below each node, and remove nodes
///      without assignments.
///
/// A set of 2^62 assignments or more is called huge. In a huge set, a rank is the seed of a uniform
/// random draw instead of an index.
class DecisionDiagram {
 public:
  /// Builds the diagram of the assignments that satisfy `constraints`. Returns nullopt if the
  /// diagram would have more than `max_edges` edges, or a layer that is too large. `value_counts`:
  /// the number of values of each parameter, at least 1.
  [[nodiscard]] static std::optional<DecisionDiagram> build(
      std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints,
      std::size_t max_edges);

  /// The diagram of a list of assignments in any order, possibly with duplicates.
  [[nodiscard]] static DecisionDiagram of(std::span<const std::size_t> value_counts,
                                          std::vector<Candidate> assignments);

  /// The number of ranks: the number of assignments, or 2^62 if the set is huge.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool is_huge() const { return is_huge_; }
  /// The number of assignments, rounded to a double; at most the largest double.
  [[nodiscard]] double size() const;
  [[nodiscard]] bool contains(const Candidate& candidate) const;
  /// The assignment with rank `rank` < count(). Unless the set is huge, assignments of neighbouring
  /// ranks differ mostly in the parameters that are assigned last.
  [[nodiscard]] Candidate at(std::uint64_t rank) const;

 private:
  struct Layer {
    std::size_t parameter = 0;
    std::size_t values = 0;
    /// for each node and value: the number of a node of the next layer, or kNone
    std::vector<std::uint32_t> child;
    std::vector<std::uint64_t> counts;  ///< for each node: assignments below it, at most 2^62
    /// in a huge set: number of assignments below each node, relative to the largest of this layer
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

/// The order in which DecisionDiagram::build() assigns the parameters: the best of one or more
/// greedy orders, which begin with different parameters. The best order has the lowest bound on the
/// number of nodes.
[[nodiscard]] std::vector<std::size_t> assignment_order(
    std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints);

}  // namespace evo
