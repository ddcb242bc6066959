#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The operation of a node of an expression.
enum class Operation : std::uint8_t {
  kNumber,
  kVariable,
  kSkip,    ///< gives no value; the following nodes do not apply to some values of its operand
  kChoose,  ///< a condition, and two values: it chooses one of them
  kEqual,
  kLess,
  kLessEqual,
  kNot,    ///< 1 for 0, 0 for everything else
  kTruth,  ///< 0 for 0, 1 for everything else
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
/// Several nodes may share one operand.
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
  /// Maps a node to 0 if its value is 0 and to 1 otherwise. Returns the node itself if it can only
  /// be 0 or 1.
  [[nodiscard]] Node truth(Node node);

  /// Evaluation skips the nodes from here to land() if the truth value of `condition` is `when`.
  /// They then have no value, so the kChoose that uses them must choose its other operand.
  [[nodiscard]] Node skip(Node condition, bool when);
  void land(Node skip) { nodes_[skip].second = static_cast<Node>(nodes_.size()); }

  [[nodiscard]] bool is_truth(Node node) const { return nodes_[node].is_truth; }
  [[nodiscard]] std::optional<double> number_of(Node node) const;
  /// The number of nodes up to and including this one if shared nodes are counted for each use;
  /// saturates.
  [[nodiscard]] std::uint32_t size(Node node) const { return nodes_[node].size; }

  /// Renumbers the variables: variable i becomes `order[i]`.
  void reorder(std::span<const std::size_t> order);

  /// `values`: the values of all variables.
  [[nodiscard]] Outcome evaluate(Node root, std::span<const double> values) const;

  /// See TranslatedExpression::tree. `names`: the names of the variables.
  [[nodiscard]] std::string json(Node root, std::span<const std::string> names) const;

 private:
  struct Part {
    Operation operation = Operation::kNumber;
    bool is_truth = false;  ///< whether the value is always 0 or 1
    bool when = false;      ///< for kSkip: the condition's value that skips
    std::uint32_t size = 1;
    Node first = 0;   ///< operands; for kVariable its index
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
