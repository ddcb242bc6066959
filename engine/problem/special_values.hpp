#pragma once

#include <cstddef>
#include <span>

#include "engine/problem/generator.hpp"

namespace evo {

/// Puts the generator's special values among elements of `dtype` that were drawn from it: one in
/// kElementsPerSpecial, in short inputs more, in those of less than kFewestElements none.
void put_special_values(std::span<std::byte> data, const Generator& generator, Dtype dtype,
                        const Draw& draw);

inline constexpr std::size_t kElementsPerSpecial = 512;
inline constexpr std::size_t kFewestElements = 32;

}  // namespace evo
