#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/problem/problem.hpp"

namespace evo {

/// What an input argument (in, inout) holds on a shape: drawn, computed by its formula,
/// or read from its file. `values`: what expressions on the shape are evaluated with. Throws
/// ProblemError when a formula gives what the argument's type does not hold, and what read_npy()
/// throws.
[[nodiscard]] std::vector<std::byte> make_input(const Problem& problem, const Argument& argument,
                                                const Shape& shape, const Values& values,
                                                const Draw& draw);

/// Throws ProblemError or InputError when a formula has no value for the first or last element, or
/// a file is not there.
void check_input(const Problem& problem, const Argument& argument, const Shape& shape,
                 const Values& values);

}  // namespace evo
