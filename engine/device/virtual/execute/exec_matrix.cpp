#include "engine/device/virtual/execute/exec_matrix.hpp"

#include <array>
#include <cstring>
#include <string>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/memory/access_counts.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes ldmatrix, stmatrix and movmatrix on 8×8 matrices of 16-bit elements. In ldmatrix and
// stmatrix, lanes 8j … 8j+7 give the addresses of the rows of matrix j. Each register of lane l
// holds two elements of a matrix or, with .trans, of its transpose: row l / 4, columns 2 (l mod 4)
// and 2 (l mod 4) + 1.

namespace evo::ptx {
namespace {

constexpr std::uint32_t kRowBytes = 16;

std::uint32_t address_lanes(const MatrixMoveOperands& op) {
  return op.matrices.count == 4 ? kAllLanes : (1U << (8 * op.matrices.count)) - 1;
}

/// True if all 32 lanes of the warp execute the instruction, as PTX requires for ldmatrix, stmatrix
/// and movmatrix (.aligned). If running lanes have not reached the instruction, makes the others
/// wait and returns false. If fewer than 32 lanes run, reports a hazard and returns false.
bool has_all_lanes(Warp& warp) {
  if (!converge(warp, kAllLanes)) return false;
  sync_lanes(warp);
  if (warp.exec == kAllLanes) return true;
  const InstrInfo& info = warp.cta->program().info[static_cast<std::size_t>(pc_of(warp))];
  warp.cta->fail(HazardKind::kDivergence, pc_of(warp), -1,
                 info.spelling + " needs all 32 lanes of warp " + std::to_string(warp.index));
  return false;
}

/// The rows and the columns of the two matrix elements that a lane holds.
struct Place {
  std::size_t row[2];
  std::size_t column[2];
};

Place place_of(std::size_t lane, bool transposed) {
  const std::size_t g = lane / 4;
  const std::size_t t = 2 * (lane % 4);
  if (transposed) return {{t, t + 1}, {g, g}};
  return {{g, g}, {t, t + 1}};
}

}  // namespace

void exec_ldmatrix(Warp& warp, const Instr& in) {
  if (!has_all_lanes(warp)) return;
  const auto& op = in.as<MatrixMoveOperands>();
  report_tainted_address(warp, op.rows, address_lanes(op));
  const LaneAccess access = resolve(warp, Space::kShared, shared_addresses(warp, op.rows),
                                    address_lanes(op), kRowBytes, AccessIntent::kRead);
  if (!access.ok) return;
  const std::uint32_t unwritten = note_shared_read(warp, access, kRowBytes, AccessKind::kPlain);
  const auto* registers = warp.cta->program().registers_of(op.matrices);
  const bool taints = unwritten != 0 || warp.tainted;
  if (unwritten != 0) take_foreign_taint(warp);
  for (std::size_t m = 0; m < op.matrices.count; ++m) {
    if (!taints && !op.is_transposed) {
      for (std::size_t row = 0; row < 8; ++row) {
        std::memcpy(warp.regs + registers[m] + row * kRowBytes, access.pointer[8 * m + row],
                    kRowBytes);
      }
      continue;
    }
    std::array<std::array<std::uint16_t, 8>, 8> matrix;
    std::array<std::uint32_t, 8> row_taint{};
    for (std::size_t row = 0; row < 8; ++row) {
      std::memcpy(matrix[row].data(), access.pointer[8 * m + row], kRowBytes);
      if (taints)
        row_taint[row] = read_taint(warp, access, static_cast<int>(8 * m + row), kRowBytes);
    }
    auto* dst = warp.reg<std::uint32_t>(registers[m]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      const Place place = place_of(lane, op.is_transposed);
      dst[lane] = matrix[place.row[0]][place.column[0]] |
                  static_cast<std::uint32_t>(matrix[place.row[1]][place.column[1]]) << 16;
      if (!taints) continue;
      const std::uint32_t low = (row_taint[place.row[0]] >> (2 * place.column[0])) & 3U;
      const std::uint32_t high = (row_taint[place.row[1]] >> (2 * place.column[1])) & 3U;
      set_taint(warp, registers[m], 4, static_cast<int>(lane), low | high << 2);
    }
  }
  if (warp.cta->launch().count_memory) count_access(warp, access, kRowBytes, false);
}

void exec_stmatrix(Warp& warp, const Instr& in) {
  if (!has_all_lanes(warp)) return;
  const auto& op = in.as<MatrixMoveOperands>();
  report_tainted_address(warp, op.rows, address_lanes(op));
  const LaneAccess access = resolve(warp, Space::kShared, shared_addresses(warp, op.rows),
                                    address_lanes(op), kRowBytes, AccessIntent::kWrite);
  if (!access.ok) return;
  const auto* registers = warp.cta->program().registers_of(op.matrices);
  alignas(16) std::byte rows[kWarpSize * kRowBytes];
  std::array<std::uint32_t, kWarpSize> row_taint{};  // a bit for each byte of a row
  for (std::size_t m = 0; m < op.matrices.count; ++m) {
    const auto* src = warp.reg<const std::uint32_t>(registers[m]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      const Place place = place_of(lane, op.is_transposed);
      for (std::size_t e = 0; e < 2; ++e) {
        const auto value = static_cast<std::uint16_t>(src[lane] >> (16 * e));
        std::memcpy(rows + (8 * m + place.row[e]) * kRowBytes + 2 * place.column[e], &value, 2);
        if (!warp.tainted) continue;
        const std::uint32_t half =
            (get_taint(warp, registers[m], 4, static_cast<int>(lane)) >> (2 * e)) & 3U;
        row_taint[8 * m + place.row[e]] |= half << (2 * place.column[e]);
      }
    }
  }
  note_shared_write(warp, access, kRowBytes, AccessKind::kPlain, rows);
  for (std::size_t row = 0; row < std::size_t{8} * op.matrices.count; ++row) {
    std::memcpy(access.pointer[row], rows + row * kRowBytes, kRowBytes);
    warp.cta->races().add_taint(static_cast<std::uint32_t>(access.address[row]), row_taint[row]);
  }
  if (warp.cta->launch().count_memory) count_access(warp, access, kRowBytes, true);
}

void exec_movmatrix(Warp& warp, const Instr& in) {
  if (!has_all_lanes(warp)) return;
  std::array<std::array<std::uint16_t, 8>, 8> matrix;
  const auto& op = in.as<MatrixTransposeOperands>();
  const auto* src = warp.reg<const std::uint32_t>(op.source);
  auto* dst = warp.reg<std::uint32_t>(op.dst);
  bool any = false;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const Place place = place_of(lane, false);
    matrix[place.row[0]][place.column[0]] = static_cast<std::uint16_t>(src[lane]);
    matrix[place.row[1]][place.column[1]] = static_cast<std::uint16_t>(src[lane] >> 16);
    if (warp.tainted) any |= get_taint(warp, op.source, 4, static_cast<int>(lane)) != 0;
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const Place place = place_of(lane, true);
    dst[lane] = matrix[place.row[0]][place.column[0]] |
                static_cast<std::uint32_t>(matrix[place.row[1]][place.column[1]]) << 16;
    if (warp.tainted) set_taint(warp, op.dst, 4, static_cast<int>(lane), any ? 0xfU : 0U);
  }
}

}  // namespace evo::ptx
