#pragma once

#include <cstddef>
#include <span>

#include "engine/problem/generator.hpp"

namespace evo {

/// Replaces some elements of type `dtype` by the generator's special values: one in
/// kElementsPerSpecial elements, a larger part in short inputs, and none in inputs of fewer than
/// kFewestElements elements. Also makes sorted or constant runs, if `draw` and `generator` request
/// runs.
void put_special_values(std::span<std::byte> data, const Generator& generator, Dtype dtype,
                        const Draw& draw);

inline constexpr std::size_t kElementsPerSpecial = 512;
inline constexpr std::size_t kFewestElements = 32;

}  // namespace evo
