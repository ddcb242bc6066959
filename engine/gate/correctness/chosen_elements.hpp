#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/correctness_result.hpp"

namespace evo {

/// The bytes of these elements of `size` bytes, one behind the other.
[[nodiscard]] std::vector<std::byte> gathered(std::span<const std::byte> all,
                                              std::span<const std::size_t> elements,
                                              std::size_t size);

/// Compares these elements of an output, all of which are `output`, with what is expected of them;
/// with a row length, they are whole rows. Adds the figures to the last check of `result`, and
/// rejects where they violate the kernel's tolerance.
void compare_chosen(CorrectnessResult& result, const LoadedKernel& kernel, const CheckCase& data,
                    const Argument& argument, std::span<const std::byte> output,
                    std::span<const std::size_t> elements, const Expectation& expected,
                    std::size_t row_length);

}  // namespace evo
