#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/correctness_result.hpp"

namespace evo {

/// Copies the elements of `all` whose indices are `elements`, each of `size` bytes, into one array.
[[nodiscard]] std::vector<std::byte> gathered(std::span<const std::byte> all,
                                              std::span<const std::size_t> elements,
                                              std::size_t size);

/// Compares `expected` with the elements of `output` whose indices are `elements`. If `row_length`
/// is not 0, the elements must be whole rows. Adds the errors to the last check of `result`, and
/// rejects the kernel if the errors violate the tolerance.
void compare_chosen(CorrectnessResult& result, const LoadedKernel& kernel, const CheckCase& data,
                    const Argument& argument, std::span<const std::byte> output,
                    std::span<const std::size_t> elements, const Expectation& expected,
                    std::size_t row_length);

}  // namespace evo
