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
  kSkip,    ///< no value: what follows does not count for a value of its operand
  kChoose,  ///< condition, two values of which one counts
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

/// An expression as nodes that stand behind their operands, in the order in which they are
/// evaluated. A node may be an operand of several.
class ExpressionTree {
 public:
  using Node = std::uint32_t;

  struct Outcome {
    double value = 0;
    const char* trouble = nullptr;  ///< why there is no value: a division by zero, say
  };

  [[nodiscard]] Node number(double value);
  /// `index`: into the values of evaluate().
  [[nodiscard]] Node variable(std::size_t index);
  /// Up to three operands.
  [[nodiscard]] Node add(Operation operation, std::initializer_list<Node> operands);
  /// 0 where the node is 0, 1 elsewhere: the node itself where it is only ever 0 or 1.
  [[nodiscard]] Node truth(Node node);

  /// Nodes from here to land() are not evaluated where `condition` is `when`. kChoose must leave
  /// them out there.
  [[nodiscard]] Node skip(Node condition, bool when);
  void land(Node skip) { nodes_[skip].second = static_cast<Node>(nodes_.size()); }

  [[nodiscard]] bool is_truth(Node node) const { return nodes_[node].is_truth; }
  [[nodiscard]] std::optional<double> number_of(Node node) const;
  /// Nodes below and with this one, where those of several are written out for each; saturates.
  [[nodiscard]] std::uint32_t size(Node node) const { return nodes_[node].size; }

  /// Gives variable i the index `order[i]`.
  void reorder(std::span<const std::size_t> order);

  /// `values`: of all variables.
  [[nodiscard]] Outcome evaluate(Node root, std::span<const double> values) const;

  /// See TranslatedExpression::tree. `names`: of the variables.
  [[nodiscard]] std::string json(Node root, std::span<const std::string> names) const;

 private:
  struct Part {
    Operation operation = Operation::kNumber;
    bool is_truth = false;  ///< only ever 0 or 1
    bool when = false;      ///< of kSkip
    std::uint32_t size = 1;
    Node first = 0;   ///< operands; of kVariable the index
    Node second = 0;  ///< of kSkip: where evaluation goes on
    Node third = 0;
    double number = 0;
  };

  Node push(const Part& part);
  void append_json(Node node, std::span<const std::string> names, std::string& text) const;
  void append_operands(Node node, std::span<const std::string> names, std::string& text) const;

  std::vector<Part> nodes_;
};

}  // namespace evo
