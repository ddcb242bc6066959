#pragma once

#include <array>
#include <cstdint>

#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// The result of a texture fetch: four 32-bit registers, and whether each depends on uninitialised
/// bytes. Channels that the texture lacks count as uninitialised.
struct Texel {
  std::array<std::uint32_t, 4> bits{};
  std::array<bool, 4> unwritten{};
};

/// The texel at integer coordinates without a filter, as in tex1Dfetch. Outside of linear memory,
/// the texel is zero; outside of other textures, it depends on the address modes.
[[nodiscard]] Texel fetch_texel(const Texture& texture, std::array<std::int64_t, 2> at);

/// Samples the texture at floating-point coordinates, as defined in "Texture Fetching" of the CUDA
/// C++ Programming Guide. Weights of the linear filter are rounded to the nearest 1/256. Their
/// products with texels and the sum are computed exactly, and the result is rounded once.
[[nodiscard]] Texel sample_texture(const Texture& texture, std::array<float, 2> coordinates);

}  // namespace evo::ptx
