#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/bundle/kernels.hpp"

namespace evo {

/// The odd parts, 3 to 4095, of the constants by which a kernel divides integers: operands of div
/// and rem, and divisors that the compiler replaced by multiplication by a reciprocal.
[[nodiscard]] std::set<std::uint64_t> code_divisors(const std::string& ptx);

/// A checked kernel: the data from which the conditions on sizes are derived.
struct CheckedKernel {
  std::map<std::string, ShapeVariables> shapes;  ///< the checked shapes by name
  nlohmann::ordered_json manifest;
  nlohmann::ordered_json plan;  ///< kernel_plan() of the manifest, before conditions are added
  std::string ptx;
};

/// Conditions that hold for the checked sizes, and for sizes that the kernel's code does not
/// distinguish from checked sizes; docs/bundle.md has the rules. A condition is {"expression",
/// "why", "variables"}; loaders skip the condition if the caller allows unchecked values of one of
/// these variables.
[[nodiscard]] nlohmann::ordered_json checked_conditions(const CheckedKernel& kernel);

}  // namespace evo
