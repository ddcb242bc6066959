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

/// A constraint as the space file states it.
struct ConstraintText {
  std::string expression;    ///< with formulas in place of their names
  std::string why = {};      ///< empty: nobody says
  std::string written = {};  ///< as in the file, where that is another text

  [[nodiscard]] const std::string& shown() const { return written.empty() ? expression : written; }
};

/// What the names in conditions mean for a list of parameters.
struct ConditionNames {
  explicit ConditionNames(const std::vector<Parameter>& list);

  std::map<std::string, double> values;                        ///< see value_names()
  std::map<std::string, std::size_t, std::less<>> parameters;  ///< macro → index
};

/// One condition, compiled for a list of parameters. Conditions over few combinations of values are
/// tabulated, and only the others (see is_tabulated()) are evaluated later on. Threads may share
/// one.
///
/// A condition without a finite value (x % 0, say) counts as violated.
class Constraint {
 public:
  /// Throws InputError for a bad expression or an unknown name. `parameters` must outlive this.
  Constraint(const std::string& expression, const std::vector<Parameter>& parameters)
      : Constraint(expression, parameters, ConditionNames(parameters)) {}
  /// The same with `names` of `parameters` made once for many conditions.
  Constraint(const std::string& expression, const std::vector<Parameter>& parameters,
             const ConditionNames& names);

  /// Indices of the parameters it depends on, in the order of their names.
  [[nodiscard]] std::span<const std::size_t> scope() const { return scope_; }

  /// `choice`: one index for each parameter of the space; only those of scope() are read.
  [[nodiscard]] bool holds(std::span<const std::uint16_t> choice) const;

  [[nodiscard]] bool is_tabulated() const { return !table_.empty(); }

  [[nodiscard]] const std::string& text() const { return expression_.text(); }

  /// Combinations of values of its scope.
  [[nodiscard]] double combinations() const { return combinations_; }

 private:
  [[nodiscard]] bool evaluate(std::span<const std::uint16_t> choice) const;
  void tabulate();

  const std::vector<Parameter>* parameters_;
  Expression expression_;
  std::vector<std::size_t> scope_;
  double combinations_ = 1;
  std::vector<bool> table_;  ///< mixed radix over scope_, first one fastest; empty when too wide
};

}  // namespace evo
