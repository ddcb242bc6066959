#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

namespace evo {

/// What code computes from sizes alone and tells them apart by: a comparison, some of their bits, a
/// remainder.
struct SizeTest {
  std::string expression;  ///< over shape variables; empty: no expression says it
  std::set<std::string> variables;
  std::int64_t most = 0;           ///< values that it can have; 0: no limit is known
  std::set<std::string> must_fit;  ///< the expression holds where 31 bits hold all of these

  bool operator==(const SizeTest&) const = default;
  bool operator<(const SizeTest& other) const {
    return std::tie(expression, variables, most, must_fit) <
           std::tie(other.expression, other.variables, other.most, other.must_fit);
  }
};

/// Those of the kernels that a manifest launches. Not seen: what a loop computes from a size step
/// by step. A size that goes through shared or local memory, or into a function that is not
/// inlined, counts as a test that no expression says; so do all variables where the PTX cannot be
/// read.
/// `manifest`: of a kernel; `variables`: of its shapes.
[[nodiscard]] std::set<SizeTest> size_tests(const std::string& ptx,
                                            const nlohmann::ordered_json& manifest,
                                            const std::set<std::string>& variables);

}  // namespace evo
