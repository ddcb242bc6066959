#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/correctness_result.hpp"

namespace evo {

/// Copies these elements of `size` bytes, one after the other.
[[nodiscard]] std::vector<std::byte> gathered(std::span<const std::byte> all,
                                              std::span<const std::size_t> elements,
                                              std::size_t size);

/// Compares chosen elements of an output, which `output` contains, with the expected ones. With a
/// row length, they are whole rows. Adds the figures to the last check of `result`, and rejects if
/// they violate the kernel's tolerance.
void compare_chosen(CorrectnessResult& result, const LoadedKernel& kernel, const CheckCase& data,
                    const Argument& argument, std::span<const std::byte> output,
                    std::span<const std::size_t> elements, const Expectation& expected,
                    std::size_t row_length);

}  // namespace evo
