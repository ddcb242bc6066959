#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

// The operands of mov between a scalar register and a vector of smaller registers.

struct PackOperands {
  std::uint32_t dst = kNoRegister;
  RegisterList parts;
  std::uint8_t part_bytes = 0;
  auto register_fields() { return std::tie(dst); }
};
void exec_pack(Warp& warp, const Instr& in);

struct UnpackOperands {
  RegisterList parts;
  std::uint32_t source = kNoRegister;
  std::uint8_t part_bytes = 0;
  auto register_fields() { return std::tie(source); }
};
void exec_unpack(Warp& warp, const Instr& in);

}  // namespace evo::ptx
