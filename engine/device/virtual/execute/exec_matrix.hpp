#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operands of ldmatrix and stmatrix, with a register for each matrix.
struct MatrixMoveOperands {
  Address rows;
  RegisterList matrices;
  bool is_transposed = false;
  auto register_fields() { return std::tie(rows.base); }
};
void exec_ldmatrix(Warp& warp, const Instr& in);
void exec_stmatrix(Warp& warp, const Instr& in);

/// The operands of movmatrix.trans.
struct MatrixTransposeOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t source = kNoRegister;
  auto register_fields() { return std::tie(dst, source); }
};
void exec_movmatrix(Warp& warp, const Instr& in);

}  // namespace evo::ptx
