#include "engine/device/virtual/execute/exec_double_mma.hpp"

#include <array>
#include <cmath>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_wmma.hpp"

// Executes f64 products. The fragments are those of the PTX ISA ("Matrix fragments for mma.m8n8k4
// with .f64 floating point type", and those for m16n8k4, m16n8k8 and m16n8k16): lane 4 g + t holds
// one element of each matrix in register i.
//   Register i of A holds row g + 8 (i % 2), column t + 4 (i / 2); only i = 0 if A has eight rows.
//   Register i of B holds row t + 4 i, column g.
//   Register i of C and D holds row g + 8 (i / 2), column 2 t + i % 2.
// Every element of D is computed by a chain of fused multiply-adds, which begins with C and
// continues by increasing k.

namespace evo::ptx {
namespace {

constexpr int kTileRows = 16;
constexpr int kColumns = 8;
constexpr int kMostDepth = 16;
constexpr int kBytes = 8;

/// A matrix of f64 numbers; for each number, whether it depends on uninitialised data.
template <int kRows, int kWidth>
struct Matrix {
  std::array<std::array<double, kWidth>, kRows> value{};
  std::array<std::array<bool, kWidth>, kRows> is_tainted{};

  void take(const Warp& warp, std::uint32_t reg, int lane, int row, int column) {
    const auto r = static_cast<std::size_t>(row);
    const auto c = static_cast<std::size_t>(column);
    value[r][c] = warp.reg<const double>(reg)[lane];
    is_tainted[r][c] = warp.tainted && get_taint(warp, reg, kBytes, lane) != 0;
  }
};

struct Tile {
  Matrix<kTileRows, kMostDepth> a;
  Matrix<kMostDepth, kColumns> b;
  Matrix<kTileRows, kColumns> c;
};

Tile gathered(const Warp& warp, const DoubleMmaOperands& op, const std::uint32_t* a_regs) {
  Tile tile;
  const std::uint32_t* b_regs = a_regs + op.a_regs();
  const std::uint32_t* c_regs = b_regs + op.b_regs();
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int i = 0; i < op.a_regs(); ++i) {
      tile.a.take(warp, a_regs[i], lane, g + 8 * (i % 2), t + 4 * (i / 2));
    }
    for (int i = 0; i < op.b_regs(); ++i) tile.b.take(warp, b_regs[i], lane, t + 4 * i, g);
    for (int i = 0; i < op.c_regs(); ++i) {
      tile.c.take(warp, c_regs[i], lane, g + 8 * (i / 2), 2 * t + i % 2);
    }
  }
  return tile;
}

}  // namespace

void exec_double_mma(Warp& warp, const Instr& in) {
  if (!wmma_ready(warp)) return;
  const auto& op = in.as<DoubleMmaOperands>();
  const std::uint32_t* d = warp.cta->program().registers_of(op.registers);
  const Tile tile = gathered(warp, op, d + op.c_regs());
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < op.c_regs(); ++i) {
      const int row_number = lane / 4 + 8 * (i / 2);
      const int column_number = 2 * (lane % 4) + i % 2;
      const auto row = static_cast<std::size_t>(row_number);
      const auto column = static_cast<std::size_t>(column_number);
      double sum = tile.c.value[row][column];
      bool is_tainted = tile.c.is_tainted[row][column];
      for (std::size_t k = 0; k < op.k; ++k) {
        sum = std::fma(tile.a.value[row][k], tile.b.value[k][column], sum);
        is_tainted = is_tainted || tile.a.is_tainted[row][k] || tile.b.is_tainted[k][column];
      }
      warp.reg<double>(d[i])[lane] = sum;
      if (warp.tainted) set_taint(warp, d[i], kBytes, lane, is_tainted ? 0xffU : 0U);
    }
  }
}

}  // namespace evo::ptx
