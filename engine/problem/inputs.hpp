#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/core/content_parts.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// Version of the code that draws inputs. Increase the version when the code draws other inputs,
/// because stored verdicts depend on the inputs.
inline constexpr std::string_view kDrawVersion = "draw 2";

/// One set of inputs for a shape, called a case: its number among the shape's cases, and its seed.
struct InputCase {
  std::size_t index = 0;
  std::uint64_t seed = 0;
};

/// Returns the options with which generate() draws an input of a case. The second case of a shape
/// contains sorted and constant runs, unless the generator excludes them. The random inputs take
/// turns: each case places zeros and extremes in only one input, so that a zero placed in one input
/// never meets a zero placed in another input, as in 0 / 0.
[[nodiscard]] Draw draw_of(const Problem& problem, const Argument& argument, const Shape& shape,
                           const InputCase& of);

/// Passes the content of an input argument (in, inout) on a shape to `take`: drawn, computed by its
/// formula, or read from its file. `values`: the values of names in expressions. Throws
/// ProblemError if a formula's value does not fit the argument's type, and the errors of
/// read_npy().
void make_input(const Problem& problem, const Argument& argument, const Shape& shape,
                const Values& values, const InputCase& of, const TakePart& take);

/// Throws ProblemError or InputError if a formula uses an unknown name, if its value for the first
/// or last element does not fit the argument's type, if a file is missing, or if a file's "shapes"
/// names an unknown shape.
void check_input(const Problem& problem, const Argument& argument, const Shape& shape,
                 const Values& values);

}  // namespace evo
