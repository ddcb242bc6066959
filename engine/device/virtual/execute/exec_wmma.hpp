#pragma once

#include <cstdint>
#include <string_view>

#include "engine/device/virtual/decode/registers.hpp"
#include "engine/device/virtual/execute/exec_mma.hpp"

namespace evo::ptx {

// The layout of wmma fragments is described in exec_wmma.cpp.

/// The sizes and types of a wmma.mma product, except for m16n16k16 of f16 or bf16.
struct WmmaShape {
  int m;
  int n;
  int k;
  Type ab;
  Type c;  ///< accumulator and result

  /// Number of registers of a fragment that are not copies of other registers. f16 fragments of A
  /// and B have eight registers, some of which may be copies of others.
  [[nodiscard]] int a_regs() const { return m * k * element_bits() / 1024; }
  [[nodiscard]] int b_regs() const { return k * n * element_bits() / 1024; }
  [[nodiscard]] int c_regs() const { return c == Type::kF16 ? m * n / 64 : m * n / 32; }

 private:
  [[nodiscard]] int element_bits() const {
    // Like a 32-bit element, an f64 element has a register for itself.
    return ab == Type::kTf32 || ab == Type::kF64   ? 32
           : ab == Type::kF16 || ab == Type::kBf16 ? 16
                                                   : 8;
  }
};
enum class WmmaPart : std::uint8_t { kA, kB, kC };
/// The WmmaShape with these sizes and types; null for m16n16k16 of f16 or bf16, and for shapes that
/// the virtual GPU does not support.
[[nodiscard]] const WmmaShape* find_wmma_shape(std::string_view mnk, Type ab, Type c);
/// A WmmaShape with these sizes whose fragment `part` has this type; null as for find_wmma_shape().
[[nodiscard]] const WmmaShape* find_wmma_fragment(std::string_view mnk, WmmaPart part, Type type);

/// The operands of wmma.load and wmma.store.
struct WmmaMoveOperands {
  Address address;
  RegisterList registers;
  const WmmaShape* shape = nullptr;    ///< null: m16n16k16 of f16 or bf16
  std::uint32_t stride = kNoRegister;  ///< in elements; kNoRegister: 16
  Space space = Space::kGeneric;
  WmmaPart part = WmmaPart::kA;
  std::uint8_t element_bytes = 2;
  bool is_column_major = false;
  auto register_fields() { return std::tie(address.base, stride); }
};
void exec_wmma_load(Warp& warp, const Instr& in);
void exec_wmma_store(Warp& warp, const Instr& in);

/// The operands of wmma.mma m16n16k16 of f16 or bf16, which is executed as two products m16n8k16.
struct WmmaOperands {
  RegisterList registers;  ///< registers of D, A, B, C in this order
  const MmaShape* half = nullptr;
  std::uint8_t ab_regs = 0;  ///< for A and for B
  std::uint8_t cd_regs = 0;
  auto register_fields() { return std::tie(); }
};
void exec_wmma_mma(Warp& warp, const Instr& in);

/// The operands of wmma.mma for products that have a WmmaShape.
struct WmmaShapeOperands {
  RegisterList registers;  ///< registers of D, A, B, C in this order
  const WmmaShape* shape = nullptr;
  std::uint8_t a_regs = 0;
  std::uint8_t b_regs = 0;
  bool saturates = false;
  auto register_fields() { return std::tie(); }
};
void exec_wmma_shape_mma(Warp& warp, const Instr& in);

/// Returns true if all 32 lanes of the warp execute the instruction. If running lanes have not
/// reached the instruction, makes the others wait and returns false. If fewer than 32 lanes run,
/// reports a hazard and returns false.
bool wmma_ready(Warp& warp);

}  // namespace evo::ptx
