#pragma once

#include <array>
#include <cstdint>

#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// What a fetch gives: four registers of 32 bits, and for each whether bytes that nobody wrote went
/// into it. Channels that the texture does not have are such.
struct Texel {
  std::array<std::uint32_t, 4> bits{};
  std::array<bool, 4> unwritten{};
};

/// The texel at whole coordinates, without a filter: tex1Dfetch. Outside of linear memory are
/// zeros, outside of other textures what their address modes say.
[[nodiscard]] Texel fetch_texel(const Texture& texture, std::array<std::int64_t, 2> at);

/// The texture at floating-point coordinates, as the CUDA C++ Programming Guide defines it in
/// "Texture Fetching". Weights of the linear filter are rounded to the nearest 1/256; products and
/// their sum are exact, the result is rounded once.
[[nodiscard]] Texel sample_texture(const Texture& texture, std::array<float, 2> coordinates);

}  // namespace evo::ptx
