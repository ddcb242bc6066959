#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

namespace evo {

/// A value by which the code distinguishes shapes: a comparison, bits or a remainder, computed from
/// shape variables alone.
struct SizeTest {
  std::string expression;  ///< over shape variables; empty: the test has no expression
  std::set<std::string> variables;
  std::int64_t most = 0;           ///< number of possible values; 0: unknown
  std::set<std::string> must_fit;  ///< the expression is valid if all of these fit in 31 bits

  bool operator==(const SizeTest&) const = default;
  bool operator<(const SizeTest& other) const {
    return std::tie(expression, variables, most, must_fit) <
           std::tie(other.expression, other.variables, other.most, other.must_fit);
  }
};

/// The size tests in the kernels that a manifest launches. Tests of values that a loop computes
/// step by step are not found. A size that passes through shared or local memory, or into a
/// function that is not inlined, counts as a size test without an expression. If the PTX cannot be
/// read, every variable counts as a size test without an expression. `manifest`: the manifest of a
/// kernel. `variables`: the shape variables of the kernel's problem.
[[nodiscard]] std::set<SizeTest> size_tests(const std::string& ptx,
                                            const nlohmann::ordered_json& manifest,
                                            const std::set<std::string>& variables);

}  // namespace evo
