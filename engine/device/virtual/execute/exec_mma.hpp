#pragma once

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

struct MmaShape {
  Type a;
  Type b;
  Type c;  ///< accumulator and result: f32, f16 or s32
  int k;
  int a_regs;
  int b_regs;
  int c_regs;
};
/// The shape of mma.sync with the given K and types of A, B and C; null if the virtual GPU does not
/// support it. The products of wgmma, and those of wmma with floating-point operands except f64,
/// use these shapes, too.
[[nodiscard]] const MmaShape* find_mma_shape(int k, Type a, Type b, Type c);

/// The operands of mma.sync.
struct MmaOperands {
  RegisterList registers;  ///< registers of D, A, B, C in this order
  const MmaShape* shape = nullptr;
  bool saturates = false;
  auto register_fields() { return std::tie(); }
};
void exec_mma(Warp& warp, const Instr& in);

}  // namespace evo::ptx
