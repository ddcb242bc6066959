#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/execute/exec_mma.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Fragments of one m16n8 tile, widened. With g = lane / 4, t = lane mod 4 and E elements in a
/// 32-bit register: register i of A holds row g + 8 (i mod 2), columns tE … + 4E (i / 2); register
/// i of B rows tE … + 4E i, column g; C rows g and g + 8, columns 2t and 2t + 1.
struct MmaTile {
  alignas(32) float a[16 * 32];
  alignas(32) float b[32 * 8];
  alignas(32) float c[16 * 8];
  alignas(32) float d[16 * 8];
};

/// Whether elements of the type are stored in registers as 8, 16 or 32 bits.
[[nodiscard]] int elements_per_register(Type type);
/// Exponent of the smallest normal number.
[[nodiscard]] int least_exponent(Type type);

void gather_a(const Warp& warp, const std::uint32_t* regs, Type type, int k, float* a);
void gather_b(const Warp& warp, const std::uint32_t* regs, Type type, int k, float* b);
void gather_c(const Warp& warp, const std::uint32_t* regs, Type type, float* c);
void scatter_d(Warp& warp, const std::uint32_t* regs, Type type, const float* d);

/// Integer products of m16n8: sums wrap unless `saturate`.
void integer_tile(Warp& warp, const std::uint32_t* d, const std::uint32_t* a,
                  const std::uint32_t* b, const std::uint32_t* c, const MmaShape& shape,
                  bool saturate);

/// Computes the tile by the architecture's rule for the types.
void multiply_tile(const Warp& warp, const MmaShape& shape, MmaTile& tile);

/// The 16 bytes at `chunk` as elements of a type of 8 or 16 bits.
void widen_chunk(const std::byte* chunk, Type type, float* values);

/// Rows of the tile in which a register of A is tainted, one bit each.
[[nodiscard]] std::uint32_t tainted_rows_of_a(const Warp& warp, const std::uint32_t* a, int a_regs);
/// Taint of D, from tainted rows, columns and elements of C (null: none).
void spread_mma_taint(Warp& warp, const std::uint32_t* d, const std::uint32_t* c, int c_regs,
                      std::uint32_t rows, std::uint32_t columns);

/// A tainted element of A taints its row of D, of B its column.
void propagate_mma_taint(Warp& warp, const std::uint32_t* d, const std::uint32_t* a, int a_regs,
                         const std::uint32_t* b, int b_regs, const std::uint32_t* c, int c_regs);

}  // namespace evo::ptx
