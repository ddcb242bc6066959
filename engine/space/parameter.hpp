#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace evo {

/// One value of a macro.
struct ParameterValue {
  enum class Kind { kInteger, kReal, kBoolean, kName };

  Kind kind = Kind::kInteger;
  std::string text;   ///< as written in the file: 64, 0.5, true, xor
  double number = 0;  ///< the number in expressions; for a name, its index in the list of values

  /// The text by which the compiler replaces the macro: the number; 1 or 0 for true or false; or
  /// the index of the name.
  [[nodiscard]] std::string macro_text() const;
};

/// One macro of a search space, with all its values.
struct Parameter {
  std::string macro;
  std::vector<ParameterValue> values;
  std::size_t default_index = 0;
  std::string meaning = {};

  [[nodiscard]] bool has_names() const {
    return values.front().kind == ParameterValue::Kind::kName;
  }
  /// True if the values are in ascending order as numbers (true counts as 1); false for names.
  [[nodiscard]] bool is_ordered() const;
  /// The values as text for a message, such as "32, 64, 128". A long list is shortened.
  [[nodiscard]] std::string allowed() const;
};

/// The name that expressions use for a value of a macro: "SWIZZLE_XOR" for the value xor of the
/// macro SWIZZLE.
[[nodiscard]] std::string value_name(const Parameter& parameter, std::size_t value);

/// The value names of all parameters with their numbers: {"SWIZZLE_NONE": 0, "SWIZZLE_PAD": 1, …}.
[[nodiscard]] std::map<std::string, double> value_names(const std::vector<Parameter>& parameters);

}  // namespace evo
