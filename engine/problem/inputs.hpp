#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/problem/problem.hpp"

namespace evo {

/// Another one wherever inputs are drawn otherwise: verdicts on other inputs are others.
inline constexpr std::string_view kDrawVersion = "draw 2";

/// A case of a shape: its number and its seed.
struct InputCase {
  std::size_t index = 0;
  std::uint64_t seed = 0;
};

/// How an input is drawn: the second case of a shape has runs. Values that would be equal in
/// several inputs stand in one of them, another one in each case.
[[nodiscard]] Draw draw_of(const Problem& problem, const Argument& argument, const Shape& shape,
                           const InputCase& of);

/// What an input argument (in, inout) holds on a shape: drawn, computed by its formula,
/// or read from its file. `values`: what expressions on the shape are evaluated with. Throws
/// ProblemError when a formula gives what the argument's type does not hold, and what read_npy()
/// throws.
[[nodiscard]] std::vector<std::byte> make_input(const Problem& problem, const Argument& argument,
                                                const Shape& shape, const Values& values,
                                                const InputCase& of);

/// Throws ProblemError or InputError when a formula has no value for the first or last element, or
/// a file is not there.
void check_input(const Problem& problem, const Argument& argument, const Shape& shape,
                 const Values& values);

}  // namespace evo
