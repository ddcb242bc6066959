#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/bundle/kernels.hpp"

namespace evo {

/// Odd numbers from 3 on by which a kernel divides whole numbers, a power of two aside: operands of
/// div and rem, and those that a compiler's multiplication by a reciprocal stands for.
[[nodiscard]] std::set<std::uint64_t> code_divisors(const std::string& ptx);

/// What a kernel can tell sizes apart by.
struct CheckedKernel {
  std::map<std::string, ShapeVariables> shapes;  ///< that it was checked on, by name
  nlohmann::ordered_json manifest;
  nlohmann::ordered_json plan;  ///< without these conditions
  std::string ptx;
};

/// Conditions that hold for the sizes that were checked and those that nothing in the kernel tells
/// apart from them; docs/bundle.md has the rule. {"expression", "why", "variables"}: a
/// condition is not asked where the caller allows one of these variables by name.
[[nodiscard]] nlohmann::ordered_json checked_conditions(const CheckedKernel& kernel);

}  // namespace evo
