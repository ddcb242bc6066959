#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operands of tex for textures with one or two dimensions.
struct TextureOperands {
  RegisterList results;  ///< four registers, one for each channel
  std::uint32_t handle = kNoRegister;
  std::uint32_t x = kNoRegister;
  std::uint32_t y = kNoRegister;   ///< kNoRegister in one dimension
  bool gives_floats = false;       ///< true: the results are f32; false: integers
  bool whole_coordinates = false;  ///< true: the coordinates are s32; false: f32
  auto register_fields() { return std::tie(handle, x, y); }
};
void exec_texture(Warp& warp, const Instr& in);

}  // namespace evo::ptx
