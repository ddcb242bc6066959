#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

namespace evo {

/// A value that the code computes from sizes alone and that distinguishes sizes: a comparison, some
/// of their bits, a remainder.
struct SizeTest {
  std::string expression;  ///< over shape variables; empty: it has no expression
  std::set<std::string> variables;
  std::int64_t most = 0;           ///< possible values; 0: no limit is known
  std::set<std::string> must_fit;  ///< the expression is valid if all of these fit in 31 bits

  bool operator==(const SizeTest&) const = default;
  bool operator<(const SizeTest& other) const {
    return std::tie(expression, variables, most, must_fit) <
           std::tie(other.expression, other.variables, other.most, other.must_fit);
  }
};

/// The tests in the kernels that a manifest launches. Values that a loop computes from a size step
/// by step are not detected. A size that passes through shared or local memory, or into a function
/// that is not inlined, counts as a test without an expression. If the PTX cannot be read, every
/// variable counts as one.
/// `manifest`: the manifest of a kernel. `variables`: the shape variables of its problem.
[[nodiscard]] std::set<SizeTest> size_tests(const std::string& ptx,
                                            const nlohmann::ordered_json& manifest,
                                            const std::set<std::string>& variables);

}  // namespace evo
