#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/expression.hpp"
#include "engine/space/parameter.hpp"

namespace evo {

/// A constraint of a space file.
struct ConstraintText {
  std::string expression;    ///< the condition, with formulas inserted for their names
  std::string why = {};      ///< the author's reason; may be empty
  std::string written = {};  ///< the condition as written in the file, if different

  [[nodiscard]] const std::string& shown() const { return written.empty() ? expression : written; }
};

/// The names that conditions may use, for a list of parameters: named values and macros.
struct ConditionNames {
  explicit ConditionNames(const std::vector<Parameter>& list);

  std::map<std::string, double> values;                        ///< see value_names()
  std::map<std::string, std::size_t, std::less<>> parameters;  ///< macro → index
};

/// One condition, compiled for a list of parameters. A condition over few combinations of values is
/// tabulated once; other conditions are evaluated on each call (see is_tabulated()). Thread-safe.
///
/// A condition without a finite value, such as x % 0, counts as violated.
class Constraint {
 public:
  /// Throws InputError for a bad expression or an unknown name. `parameters` must outlive the
  /// Constraint.
  Constraint(const std::string& expression, const std::vector<Parameter>& parameters)
      : Constraint(expression, parameters, ConditionNames(parameters)) {}
  /// Constructs a Constraint faster, with `names` computed once for many conditions.
  Constraint(const std::string& expression, const std::vector<Parameter>& parameters,
             const ConditionNames& names);

  /// Indices of the parameters that the condition depends on, in the order of their names.
  [[nodiscard]] std::span<const std::size_t> scope() const { return scope_; }

  /// `choice`: one index for each parameter of the space; only those of scope() are read.
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
  /// the result for each combination of values of scope_, the first parameter fastest; empty if
  /// there are too many combinations
  std::vector<bool> table_;
};

}  // namespace evo
