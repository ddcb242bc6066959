#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/execute/exec_mma.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// The matrices of one m16n8 tile, widened to f32. The fragments of mma.sync hold the matrices as
/// follows, where g = lane / 4, t = lane mod 4, and E is the number of elements in a 32-bit
/// register. Register i of A holds E elements of row g + 8 (i mod 2), from column tE + 4E (i / 2)
/// on. Register i of B holds E elements of column g, from row tE + 4E i on. The registers of C hold
/// columns 2t and 2t + 1 of rows g and g + 8.
struct MmaTile {
  alignas(32) float a[16 * 32];
  alignas(32) float b[32 * 8];
  alignas(32) float c[16 * 8];
  alignas(32) float d[16 * 8];
};

/// The number of elements of a type in a 32-bit register: 4, 2 or 1.
[[nodiscard]] int elements_per_register(Type type);
/// The exponent of the smallest normal number of a floating-point type.
[[nodiscard]] int least_exponent(Type type);

void gather_a(const Warp& warp, const std::uint32_t* regs, Type type, int k, float* a);
void gather_b(const Warp& warp, const std::uint32_t* regs, Type type, int k, float* b);
void gather_c(const Warp& warp, const std::uint32_t* regs, Type type, float* c);
void scatter_d(Warp& warp, const std::uint32_t* regs, Type type, const float* d);

/// Computes an integer product of an m16n8 tile. Sums wrap unless `saturate`.
void integer_tile(Warp& warp, const std::uint32_t* d, const std::uint32_t* a,
                  const std::uint32_t* b, const std::uint32_t* c, const MmaShape& shape,
                  bool saturate);

/// Computes a tile as the matrix units of the warp's architecture do for the types of `shape`.
void multiply_tile(const Warp& warp, const MmaShape& shape, MmaTile& tile);

/// Widens the elements in the 16 bytes at `chunk` to f32; the type has 8 or 16 bits.
void widen_chunk(const std::byte* chunk, Type type, float* values);

/// A mask of the rows of the tile in which an element of A is tainted (marked as uninitialised).
[[nodiscard]] std::uint32_t tainted_rows_of_a(const Warp& warp, const std::uint32_t* a, int a_regs);
/// Sets the taint of D from the tainted rows, the tainted columns, and the taint of C (null if
/// there is no C).
void spread_mma_taint(Warp& warp, const std::uint32_t* d, const std::uint32_t* c, int c_regs,
                      std::uint32_t rows, std::uint32_t columns);

/// Propagates taint to D: a tainted element of A taints its row of D, a tainted element of B its
/// column of D, and a tainted element of C the same element of D.
void propagate_mma_taint(Warp& warp, const std::uint32_t* d, const std::uint32_t* a, int a_regs,
                         const std::uint32_t* b, int b_regs, const std::uint32_t* c, int c_regs);

}  // namespace evo::ptx
