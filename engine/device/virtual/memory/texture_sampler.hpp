#pragma once

#include <array>
#include <cstdint>

#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// The result of a texture fetch: the values of four 32-bit registers, and for each whether it
/// depends on uninitialised bytes. Channels that the texture does not have count as uninitialised.
struct Texel {
  std::array<std::uint32_t, 4> bits{};
  std::array<bool, 4> unwritten{};
};

/// Reads the texel at integer coordinates without a filter, as tex1Dfetch does. If the coordinates
/// are outside of the texture, the result is zero for linear memory; for other textures, the
/// texture's address modes determine the result.
[[nodiscard]] Texel fetch_texel(const Texture& texture, std::array<std::int64_t, 2> at);

/// Samples the texture at floating-point coordinates, as the CUDA C++ Programming Guide describes
/// in "Texture Fetching". Weights of the linear filter are rounded to the nearest 1/256. The
/// products of weights and texels and their sum are computed in double precision, and the result is
/// then rounded to single precision.
[[nodiscard]] Texel sample_texture(const Texture& texture, std::array<float, 2> coordinates);

}  // namespace evo::ptx
