#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operands of f64 products: mma.sync m8n8k4, m16n8k4, m16n8k8 and m16n8k16, and wmma m8n8k4,
/// which has the fragments of mma.sync m8n8k4.
struct DoubleMmaOperands {
  RegisterList registers;  ///< registers of D, A, B, C in this order, 64 bits each
  std::uint8_t m = 8;
  std::uint8_t k = 4;
  auto register_fields() { return std::tie(); }

  [[nodiscard]] int a_regs() const { return m * k / 32; }
  [[nodiscard]] int b_regs() const { return k / 4; }
  [[nodiscard]] int c_regs() const { return m / 4; }
};
void exec_double_mma(Warp& warp, const Instr& in);

}  // namespace evo::ptx
