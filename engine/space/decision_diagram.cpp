#include "engine/space/decision_diagram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

namespace evo {
namespace {

constexpr std::uint64_t kMostAssignments = std::uint64_t{1} << 62;
/// Limit of the number of value indices (2 bytes each) that are stored for the nodes of a layer.
constexpr std::size_t kMostStates = std::size_t{1} << 26;

/// Returns those of the first `level` parameters of `order` that share a constraint with a
/// parameter at index `level` or later.
std::vector<std::size_t> needed_after(std::size_t level, std::span<const std::size_t> order,
                                      std::span<const Constraint* const> constraints) {
  std::vector<std::size_t> level_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) level_of[order[i]] = i;
  std::vector<bool> needed(order.size(), false);
  for (const Constraint* constraint : constraints) {
    const auto scope = constraint->scope();
    const bool finished =
        std::all_of(scope.begin(), scope.end(), [&](std::size_t p) { return level_of[p] < level; });
    if (finished) continue;
    for (const std::size_t p : scope) needed[p] = needed[p] || level_of[p] < level;
  }
  std::vector<std::size_t> list;
  for (std::size_t p = 0; p < needed.size(); ++p) {
    if (needed[p]) list.push_back(p);
  }
  return list;
}

}  // namespace

/// Builds the layers of a DecisionDiagram one after the other (step 2 in decision_diagram.hpp).
class DiagramBuilder {
 public:
  DiagramBuilder(std::span<const std::size_t> value_counts,
                 std::span<const Constraint* const> constraints, std::size_t max_edges)
      : value_counts_(value_counts),
        constraints_(constraints),
        edges_left_(max_edges),
        order_(assignment_order(value_counts, constraints)),
        finished_at_(value_counts.size()) {
    std::vector<std::size_t> level_of(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) level_of[order_[i]] = i;
    for (const Constraint* constraint : constraints) {
      std::size_t last = 0;
      for (const std::size_t p : constraint->scope()) last = std::max(last, level_of[p]);
      finished_at_[last].push_back(constraint);
    }
  }

  std::optional<DecisionDiagram> build() {
    DecisionDiagram diagram;
    states_.assign(value_counts_.size(), 0);
    for (std::size_t level = 0; level < order_.size(); ++level) {
      if (!expand(level, diagram)) return std::nullopt;
    }
    diagram.count_up();
    return diagram;
  }

 private:
  bool expand(std::size_t level, DecisionDiagram& diagram) {
    const std::size_t parameter = order_[level];
    const std::vector<std::size_t> needed = needed_after(level + 1, order_, constraints_);
    double keys = 1;
    for (const std::size_t p : needed) keys *= static_cast<double>(value_counts_[p]);
    if (keys > 9e18) return false;  // the key does not fit in 64 bits

    const std::vector<const Constraint*>& finished = finished_at_[level];
    DecisionDiagram::Layer layer;
    layer.parameter = parameter;
    layer.values = value_counts_[parameter];
    std::unordered_map<std::uint64_t, std::uint32_t> node_of;
    std::vector<std::uint16_t> next;
    for (std::size_t begin = 0; begin < states_.size(); begin += value_counts_.size()) {
      const std::span<std::uint16_t> state(states_.data() + begin, value_counts_.size());
      for (std::size_t value = 0; value < layer.values; ++value) {
        if (edges_left_-- == 0) return false;
        state[parameter] = static_cast<std::uint16_t>(value);
        const bool holds = std::all_of(finished.begin(), finished.end(),
                                       [&](const Constraint* c) { return c->holds(state); });
        if (!holds) {
          layer.child.push_back(DecisionDiagram::kNone);
          continue;
        }
        const auto [found, is_new] =
            node_of.try_emplace(key_of(state, needed), static_cast<std::uint32_t>(node_of.size()));
        if (is_new) next.insert(next.end(), state.begin(), state.end());
        if (next.size() > kMostStates) return false;
        layer.child.push_back(found->second);
      }
    }
    states_ = std::move(next);
    diagram.layers_.push_back(std::move(layer));
    return true;
  }

  [[nodiscard]] std::uint64_t key_of(std::span<const std::uint16_t> state,
                                     const std::vector<std::size_t>& needed) const {
    std::uint64_t key = 0;
    for (const std::size_t p : needed) key = key * value_counts_[p] + state[p];
    return key;
  }

  std::span<const std::size_t> value_counts_;
  std::span<const Constraint* const> constraints_;
  std::size_t edges_left_;
  std::vector<std::size_t> order_;
  /// for each level, the constraints whose last parameter is assigned at this level
  std::vector<std::vector<const Constraint*>> finished_at_;
  std::vector<std::uint16_t> states_;  ///< value indices of the current layer's nodes, concatenated
};

std::optional<DecisionDiagram> DecisionDiagram::build(
    std::span<const std::size_t> value_counts, std::span<const Constraint* const> constraints,
    std::size_t max_edges) {
  return DiagramBuilder(value_counts, constraints, max_edges).build();
}

/// Builds a diagram from a list of assignments. Assignments whose first values are equal share the
/// beginning of their path; nodes with the same remaining assignments are merged.
class TableBuilder {
 public:
  explicit TableBuilder(std::span<const std::size_t> value_counts) : nodes_(value_counts.size()) {
    for (std::size_t p = 0; p < value_counts.size(); ++p) {
      DecisionDiagram::Layer layer;
      layer.parameter = p;
      layer.values = value_counts[p];
      layers_.push_back(std::move(layer));
    }
  }

  DecisionDiagram build(const std::vector<Candidate>& sorted) {
    // node() builds all layers recursively. The first layer has a single node, number 0.
    if (!sorted.empty()) (void)node(0, sorted);
    DecisionDiagram diagram;
    diagram.layers_ = std::move(layers_);
    diagram.count_up();
    return diagram;
  }

 private:
  /// Returns the number of the node in layer `level` for the assignments `sorted`, which agree on
  /// their first `level` values.
  std::uint32_t node(std::size_t level, std::span<const Candidate> sorted) {
    DecisionDiagram::Layer& layer = layers_[level];
    std::vector<std::uint32_t> children(layer.values, DecisionDiagram::kNone);
    while (!sorted.empty()) {
      const std::uint16_t value = sorted.front().choice[level];
      const auto end = std::ranges::partition_point(
          sorted, [&](const Candidate& row) { return row.choice[level] == value; });
      const auto length = static_cast<std::size_t>(end - sorted.begin());
      children[value] = level + 1 < layers_.size() ? node(level + 1, sorted.first(length)) : 0;
      sorted = sorted.subspan(length);
    }
    const auto next = static_cast<std::uint32_t>(nodes_[level].size());
    const auto [found, is_new] = nodes_[level].try_emplace(std::move(children), next);
    if (is_new) layer.child.insert(layer.child.end(), found->first.begin(), found->first.end());
    return found->second;
  }

  std::vector<DecisionDiagram::Layer> layers_;
  /// for each layer, a map from the children of a node to the number of the node
  std::vector<std::map<std::vector<std::uint32_t>, std::uint32_t>> nodes_;
};

DecisionDiagram DecisionDiagram::of(std::span<const std::size_t> value_counts,
                                    std::vector<Candidate> assignments) {
  std::ranges::sort(assignments);
  return TableBuilder(value_counts).build(assignments);
}

std::uint64_t DecisionDiagram::below(std::size_t layer, std::uint32_t child) const {
  if (child == kNone) return 0;
  return layer + 1 < layers_.size() ? layers_[layer + 1].counts[child] : 1;
}

void DecisionDiagram::count_up() {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    layer.counts.assign(layer.child.size() / layer.values, 0);
    for (std::size_t edge = 0; edge < layer.child.size(); ++edge) {
      const std::uint64_t count = below(l, layer.child[edge]);
      if (count == 0) layer.child[edge] = kNone;
      std::uint64_t& sum = layer.counts[edge / layer.values];
      sum = std::min(sum + count, kMostAssignments);
    }
  }
  count_ = layers_.empty() || layers_.front().counts.empty() ? 0 : layers_.front().counts.front();
  if (count_ == kMostAssignments) {
    is_huge_ = true;
    weigh();
  }
}

/// For a huge set, computes for each node the number of assignments below it, relative to the
/// largest number of its layer.
void DecisionDiagram::weigh() {
  std::vector<double> below = {1};
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    layer.weights.assign(layer.counts.size(), 0);
    for (std::size_t edge = 0; edge < layer.child.size(); ++edge) {
      if (layer.child[edge] == kNone) continue;
      layer.weights[edge / layer.values] += below[l + 1 < layers_.size() ? layer.child[edge] : 0];
    }
    const double largest = *std::max_element(layer.weights.begin(), layer.weights.end());
    log2_count_ += std::log2(largest);
    for (double& weight : layer.weights) weight /= largest;
    below = layer.weights;
  }
}

double DecisionDiagram::size() const {
  if (!is_huge()) return static_cast<double>(count_);
  return std::min(std::exp2(log2_count_), std::numeric_limits<double>::max());
}

Candidate DecisionDiagram::drawn(Random random) const {
  Candidate candidate;
  candidate.choice.resize(layers_.size());
  std::uint32_t node = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    std::vector<double> sums(layer.values, 0);
    double sum = 0;
    for (std::size_t value = 0; value < layer.values; ++value) {
      const std::uint32_t child = layer.child[node * layer.values + value];
      if (child != kNone) sum += l + 1 < layers_.size() ? layers_[l + 1].weights[child] : 1;
      sums[value] = sum;
    }
    // Takes the first value whose cumulative weight exceeds `draw`, or the last possible value if
    // rounding errors leave none.
    const double draw = random.uniform() * sum;
    const auto found = std::upper_bound(sums.begin(), sums.end(), draw);
    const auto last = std::lower_bound(sums.begin(), sums.end(), sum);
    const auto value = static_cast<std::size_t>(std::min(found, last) - sums.begin());
    candidate.choice[layer.parameter] = static_cast<std::uint16_t>(value);
    node = layer.child[node * layer.values + value];
  }
  return candidate;
}

bool DecisionDiagram::contains(const Candidate& candidate) const {
  if (candidate.choice.size() != layers_.size() || count_ == 0) return false;
  std::uint32_t node = 0;
  for (const Layer& layer : layers_) {
    const std::size_t value = candidate.choice[layer.parameter];
    if (value >= layer.values) return false;
    node = layer.child[node * layer.values + value];
    if (node == kNone) return false;
  }
  return true;
}

Candidate DecisionDiagram::at(std::uint64_t rank) const {
  if (is_huge()) return drawn(Random(rank));
  Candidate candidate;
  candidate.choice.resize(layers_.size());
  std::uint32_t node = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    for (std::size_t value = 0; value < layer.values; ++value) {
      const std::uint32_t child = layer.child[node * layer.values + value];
      const std::uint64_t count = below(l, child);
      if (rank < count) {
        candidate.choice[layer.parameter] = static_cast<std::uint16_t>(value);
        node = child;
        break;
      }
      rank -= count;
    }
  }
  return candidate;
}

}  // namespace evo
