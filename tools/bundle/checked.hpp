#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/bundle/kernels.hpp"

namespace evo {

/// The odd factors, from 3 on, of the numbers by which a kernel divides whole numbers: operands of
/// div and rem, and divisors that the compiler replaced by multiplication by a reciprocal.
[[nodiscard]] std::set<std::uint64_t> code_divisors(const std::string& ptx);

/// A checked kernel: the data from which the conditions on sizes are derived.
struct CheckedKernel {
  std::map<std::string, ShapeVariables> shapes;  ///< the checked shapes by name
  nlohmann::ordered_json manifest;
  nlohmann::ordered_json plan;  ///< without these conditions
  std::string ptx;
};

/// Conditions that hold for the checked sizes, and for sizes that the kernel's code does not
/// distinguish from checked sizes; docs/bundle.md has the rules. A condition is {"expression",
/// "why", "variables"}; loaders skip it if the caller allows one of its variables by name.
[[nodiscard]] nlohmann::ordered_json checked_conditions(const CheckedKernel& kernel);

}  // namespace evo
