#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/core/expression.hpp"
#include "engine/space/parameter.hpp"

namespace evo {

/// A constraint as a space file states it.
struct ConstraintText {
  std::string expression;    ///< the condition, with formulas inserted for their names
  std::string why = {};      ///< the author's reason; may be empty
  std::string written = {};  ///< the condition as written in the file, if different

  [[nodiscard]] const std::string& shown() const { return written.empty() ? expression : written; }
};

/// The names that a condition may still contain when formulas and the names of shape, problem and
/// device have been replaced (placed()): macros and value names (SWIZZLE_XOR).
struct ConditionNames {
  explicit ConditionNames(const std::vector<Parameter>& list);

  std::map<std::string, double> values;                        ///< see value_names()
  std::map<std::string, std::size_t, std::less<>> parameters;  ///< macro → index
};

/// One condition of a space, parsed once for the list of the space's parameters. If the parameters
/// of the condition have few combinations of values, the results are tabulated once; other
/// conditions are evaluated on each call of holds(). Thread-safe.
///
/// A condition whose value is not finite, such as x % 0, counts as violated.
class Constraint {
 public:
  /// Throws InputError if `expression` is not an expression or contains an unknown name.
  /// `parameters` must outlive the Constraint.
  Constraint(const std::string& expression, const std::vector<Parameter>& parameters)
      : Constraint(expression, parameters, ConditionNames(parameters)) {}
  /// Constructs one of many Constraints faster, because `names` is computed once for all of them.
  Constraint(const std::string& expression, const std::vector<Parameter>& parameters,
             const ConditionNames& names);

  /// Indices of the parameters on which the condition depends, in the order of their names.
  [[nodiscard]] std::span<const std::size_t> scope() const { return scope_; }

  /// True if a candidate satisfies the condition. `choice`: the index of the value of each
  /// parameter of the space; only those of scope() are read.
  [[nodiscard]] bool holds(std::span<const std::uint16_t> choice) const;

  [[nodiscard]] bool is_tabulated() const { return !table_.empty(); }

  [[nodiscard]] const std::string& text() const { return expression_.text(); }

  /// Number of combinations of the values of the parameters in scope().
  [[nodiscard]] double combinations() const { return combinations_; }

 private:
  [[nodiscard]] bool evaluate(std::span<const std::uint16_t> choice) const;
  void tabulate();

  const std::vector<Parameter>* parameters_;
  Expression expression_;
  std::vector<std::size_t> scope_;
  double combinations_ = 1;
  /// the result for each combination of values of the parameters in scope_; the first parameter
  /// changes fastest; empty if there are too many combinations
  std::vector<bool> table_;
};

}  // namespace evo
