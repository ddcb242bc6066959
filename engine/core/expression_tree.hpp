#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evo {

/// The operation of a node of an expression.
enum class Operation : std::uint8_t {
  kNumber,
  kVariable,
  kSkip,    ///< has no value; skips nodes after it for one truth value of its operand
  kChoose,  ///< has three operands: a condition, and two values of which it chooses one
  kEqual,
  kLess,
  kLessEqual,
  kNot,    ///< 1 for 0, otherwise 0
  kTruth,  ///< 0 for 0, otherwise 1
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,  ///< Python's //
  kModulo,       ///< Python's %
  kPower,
  kMin,
  kMax,
  kFloor,
  kCeil,
  kRound,
  kSqrt,
  kExp,
  kLn,
  kLog2,
};

/// An expression as a list of nodes in the order of evaluation: each node follows its operands.
/// Several nodes may share an operand.
class ExpressionTree {
 public:
  using Node = std::uint32_t;

  struct Outcome {
    double value = 0;
    const char* trouble = nullptr;  ///< why there is no value, for example "division by zero"
  };

  [[nodiscard]] Node number(double value);
  /// `index`: index into the values passed to evaluate().
  [[nodiscard]] Node variable(std::size_t index);
  /// Adds an operation of up to three operands.
  [[nodiscard]] Node add(Operation operation, std::initializer_list<Node> operands);
  /// Adds a node that maps 0 to 0 and all other values to 1. Returns `node` itself if its value can
  /// only be 0 or 1.
  [[nodiscard]] Node truth(Node node);

  /// If the truth value of `condition` is `when`, evaluation skips the nodes that are added between
  /// the calls of skip() and land(). Skipped nodes have no value, so the kChoose operation that
  /// uses them must choose its other operand.
  [[nodiscard]] Node skip(Node condition, bool when);
  void land(Node skip) { nodes_[skip].second = static_cast<Node>(nodes_.size()); }

  [[nodiscard]] bool is_truth(Node node) const { return nodes_[node].is_truth; }
  [[nodiscard]] std::optional<double> number_of(Node node) const;
  /// The number of nodes of the expression that ends with `node`, where a shared node is counted
  /// for each use. The number saturates.
  [[nodiscard]] std::uint32_t size(Node node) const { return nodes_[node].size; }

  /// Renumbers the variables: variable i becomes variable `order[i]`.
  void reorder(std::span<const std::size_t> order);

  /// `values`: the values of all variables.
  [[nodiscard]] Outcome evaluate(Node root, std::span<const double> values) const;

  /// Returns the expression that ends with `root` as JSON. `names`: the names of the variables.
  [[nodiscard]] std::string json(Node root, std::span<const std::string> names) const;

 private:
  struct Part {
    Operation operation = Operation::kNumber;
    bool is_truth = false;  ///< whether the value can only be 0 or 1
    bool when = false;      ///< for kSkip: the truth value at which nodes are skipped
    std::uint32_t size = 1;
    Node first = 0;   ///< first operand; for kVariable, the variable's index
    Node second = 0;  ///< for kSkip: the node at which evaluation continues
    Node third = 0;
    double number = 0;
  };

  Node push(const Part& part);
  void append_json(Node node, std::span<const std::string> names, std::string& text) const;
  void append_operands(Node node, std::span<const std::string> names, std::string& text) const;

  std::vector<Part> nodes_;
};

}  // namespace evo
