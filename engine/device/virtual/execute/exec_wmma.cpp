#include "engine/device/virtual/execute/exec_wmma.hpp"

#include <array>
#include <cstring>
#include <string>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/mma_fragments.hpp"
#include "engine/device/virtual/memory/access_counts.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes loads and stores of wmma fragments, and the product m16n16k16 with f16 or bf16 operands.
// PTX does not define the layout of fragments. For m16n16k16 of f16 or bf16, fragments have the
// layout of mma.sync: A is stored as in m16n8k16, but f16 fragments of A and B have eight
// registers, and the last four repeat the first four. B and C are stored as two tiles of eight
// columns. Fragments of f64 have the layout in exec_double_mma.cpp. Fragments of other products
// (exec_wmma_shapes.cpp) store the matrix register by register and, within a register, lane by
// lane: A and C in row-major order, and B in column-major order.

namespace evo::ptx {
namespace {

struct Element {
  std::uint32_t row;
  std::uint32_t column;
};

/// The row and column of a register's first element; `along_row`: whether the register's second
/// element is the next one in the row rather than in the column.
struct Pair {
  Element first;
  bool along_row;
};

Pair place_of(WmmaPart part, bool is_f32, std::uint32_t reg, std::uint32_t lane) {
  const std::uint32_t g = lane / 4;
  const std::uint32_t t = lane % 4;
  if (part == WmmaPart::kA) return {{g + 8 * (reg % 2), 2 * t + 8 * ((reg / 2) % 2)}, true};
  // In B, registers 0 and 1 hold columns 0 to 7, and registers 2 and 3 hold columns 8 to 15. The
  // two elements in a register of B are adjacent in a column.
  if (part == WmmaPart::kB) return {{2 * t + 8 * (reg % 2), g + 8 * ((reg / 2) % 2)}, false};
  if (is_f32) return {{g + 8 * ((reg / 2) % 2), 2 * t + reg % 2 + 8 * (reg / 4)}, true};
  return {{g + 8 * (reg % 2), 2 * t + 8 * (reg / 2)}, true};
}

/// The row and column of an element of an m8n8k4 product of f64, whose layout is described in
/// exec_double_mma.cpp.
Pair place_of_double(WmmaPart part, std::uint32_t reg, std::uint32_t lane) {
  const std::uint32_t g = lane / 4;
  const std::uint32_t t = lane % 4;
  if (part == WmmaPart::kA) return {{g, t}, true};
  if (part == WmmaPart::kB) return {{t, g}, false};
  return {{g, 2 * t + reg}, true};
}

struct Geometry {
  std::array<std::uint64_t, kWarpSize> base;
  std::uint32_t stride = 0;
  bool column_major = false;
  std::uint32_t element_bytes = 2;
  WmmaPart part = WmmaPart::kA;
  const WmmaShape* shape = nullptr;  ///< null: m16n16k16 of f16 or bf16

  [[nodiscard]] std::uint32_t register_bytes() const { return std::max(4U, element_bytes); }
  [[nodiscard]] std::uint32_t per_register() const { return register_bytes() / element_bytes; }

  [[nodiscard]] Pair place(std::uint32_t reg, std::uint32_t lane) const {
    if (shape == nullptr) return place_of(part, element_bytes == 4, reg, lane);
    if (element_bytes == 8) return place_of_double(part, reg, lane);
    const std::uint32_t linear = (reg * kWarpSize + lane) * per_register();
    const auto k = static_cast<std::uint32_t>(shape->k);
    if (part == WmmaPart::kB) return {{linear % k, linear / k}, false};
    const std::uint32_t columns = part == WmmaPart::kA ? k : static_cast<std::uint32_t>(shape->n);
    return {{linear / columns, linear % columns}, true};
  }

  /// The number of registers, out of `all`, whose content is not a copy of another register.
  [[nodiscard]] std::uint32_t distinct(std::uint32_t all) const {
    if (shape == nullptr) return part == WmmaPart::kC ? all : 4;
    return static_cast<std::uint32_t>(part == WmmaPart::kA   ? shape->a_regs()
                                      : part == WmmaPart::kB ? shape->b_regs()
                                                             : shape->c_regs());
  }

  /// True if the elements that a register holds are adjacent in memory.
  [[nodiscard]] bool has_neighbours() const {
    return per_register() == 1 || (part == WmmaPart::kB) == column_major;
  }

  /// A GPU moves two adjacent f32 of a row, or all pieces of a register (ldmatrix.trans), by one
  /// access. If such an access begins with this piece (`bytes` bytes from element `element` on),
  /// returns the bytes per lane that the time model counts for the access; otherwise, returns 0.
  [[nodiscard]] std::uint32_t machine_bytes(std::uint32_t reg, std::uint32_t element,
                                            std::uint32_t bytes) const {
    if (element > 0) return 0;
    const bool has_pairs = shape == nullptr && element_bytes == 4 && !column_major;
    if (!has_pairs) return bytes;
    return reg % 2 == 0 ? 2 * bytes : 0;
  }

  [[nodiscard]] std::uint64_t address(std::size_t lane, Element e) const {
    const std::uint64_t index = column_major
                                    ? static_cast<std::uint64_t>(e.column) * stride + e.row
                                    : static_cast<std::uint64_t>(e.row) * stride + e.column;
    return base[lane] + index * element_bytes;
  }
};

Geometry geometry_of(const Warp& warp, const WmmaMoveOperands& op) {
  Geometry geometry;
  geometry.base = lane_addresses(warp, op.address);
  geometry.column_major = op.is_column_major;
  geometry.element_bytes = op.element_bytes;
  geometry.part = op.part;
  geometry.shape = op.shape;
  geometry.stride = 16;
  if (op.stride != kNoRegister) geometry.stride = warp.reg<const std::uint32_t>(op.stride)[0];
  return geometry;
}

bool check_geometry(Warp& warp, const Geometry& geometry) {
  for (std::size_t lane = 1; lane < kWarpSize; ++lane) {
    if (geometry.base[lane] == geometry.base[0]) continue;
    warp.cta->fail(
        HazardKind::kInvalidInstruction, pc_of(warp), -1,
        "the lanes of warp " + std::to_string(warp.index) + " give wmma different addresses");
    return false;
  }
  const std::uint64_t row_bytes =
      static_cast<std::uint64_t>(geometry.stride) * geometry.element_bytes;
  if (geometry.base[0] % 16 == 0 && row_bytes % 16 == 0) return true;
  warp.cta->fail(
      HazardKind::kMisaligned, pc_of(warp), -1,
      "wmma needs an address and a row that are multiples of 16 bytes: the address modulo 16 is " +
          std::to_string(geometry.base[0] % 16) + ", the row has " + std::to_string(row_bytes) +
          " bytes, warp " + std::to_string(warp.index));
  return false;
}

/// Loads one piece of a register in all lanes: `bytes` bytes per lane, beginning with element
/// `element` of the register.
void load_piece(Warp& warp, const WmmaMoveOperands& op, const Geometry& geometry, std::uint32_t reg,
                std::uint32_t reg_offset, std::uint32_t element, std::uint32_t bytes) {
  std::array<std::uint64_t, kWarpSize> address;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    Pair pair = geometry.place(reg, lane);
    (pair.along_row ? pair.first.column : pair.first.row) += element;
    address[lane] = geometry.address(lane, pair.first);
  }
  report_tainted_address(warp, op.address, kAllLanes);
  const LaneAccess access = resolve(warp, op.space, address, kAllLanes, bytes, AccessIntent::kRead);
  if (!access.ok) return;
  const std::uint32_t unwritten =
      access.shared != 0 ? note_shared_read(warp, access, bytes, AccessKind::kPlain) : 0;
  note_global_read(warp, access, bytes);
  const LaunchContext& launch = warp.cta->launch();
  const bool taints = launch.check && (warp.tainted || unwritten != 0 || access.tracked != 0);
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    copy_from_guest(warp.regs + reg_offset + lane * geometry.register_bytes() +
                        std::size_t{element} * geometry.element_bytes,
                    access.pointer[lane], bytes);
  }
  for (int lane = 0; taints && lane < kWarpSize; ++lane) {
    const std::uint32_t fresh = read_taint(warp, access, lane, bytes)
                                << (element * geometry.element_bytes);
    const std::uint32_t old =
        element == 0 ? 0 : get_taint(warp, reg_offset, geometry.register_bytes(), lane);
    if (fresh != 0) take_foreign_taint(warp);
    set_taint(warp, reg_offset, geometry.register_bytes(), lane, old | fresh);
  }
  const std::uint32_t moved = geometry.machine_bytes(reg, element, bytes);
  if (launch.count_memory && moved > 0) count_access(warp, access, moved, false);
}

void store_piece(Warp& warp, const WmmaMoveOperands& op, const Geometry& geometry,
                 std::uint32_t reg, std::uint32_t reg_offset, std::uint32_t element,
                 std::uint32_t bytes) {
  std::array<std::uint64_t, kWarpSize> address;
  alignas(16) std::byte values[kWarpSize * 8];
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    Pair pair = geometry.place(reg, lane);
    pair.first.column += element;
    address[lane] = geometry.address(lane, pair.first);
    std::memcpy(values + std::size_t{lane} * bytes,
                warp.regs + reg_offset + std::size_t{lane} * geometry.register_bytes() +
                    std::size_t{element} * geometry.element_bytes,
                bytes);
  }
  report_tainted_address(warp, op.address, kAllLanes);
  const LaneAccess access =
      resolve(warp, op.space, address, kAllLanes, bytes, AccessIntent::kWrite);
  if (!access.ok || note_owner(warp, access, bytes)) return;
  if (access.shared != 0) note_shared_write(warp, access, bytes, AccessKind::kPlain, values);
  std::uint32_t reported = 0;
  WatchedPlaces places(warp, access, bytes);
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    places.enter(lane);
    places.write(values + lane * bytes);
    copy_to_guest(access.pointer[lane], values + lane * bytes, bytes);
    if (std::uint8_t* marks = access.marks(lane)) mark_written(marks, bytes);
    const std::uint32_t stored =
        warp.tainted
            ? (get_taint(warp, reg_offset, geometry.register_bytes(), static_cast<int>(lane)) >>
               (element * geometry.element_bytes)) &
                  ((1U << bytes) - 1)
            : 0;
    if (stored == 0) continue;
    if (((access.shared >> lane) & 1U) != 0) {
      warp.cta->races().add_taint(static_cast<std::uint32_t>(access.address[lane]), stored);
    } else {
      reported |= 1U << lane;
    }
  }
  if (reported != 0) report_tainted_use(warp, reported, "reach global memory");
  const std::uint32_t moved = geometry.machine_bytes(reg, element, bytes);
  if (warp.cta->launch().count_memory && moved > 0) count_access(warp, access, moved, true);
}

}  // namespace

bool wmma_ready(Warp& warp) {
  if (!converge(warp, kAllLanes)) return false;
  sync_lanes(warp);
  if (warp.exec == kAllLanes) return true;
  warp.cta->fail(HazardKind::kDivergence, pc_of(warp), -1,
                 "wmma needs all 32 lanes of warp " + std::to_string(warp.index));
  return false;
}

void exec_wmma_load(Warp& warp, const Instr& in) {
  if (!wmma_ready(warp)) return;
  const auto& op = in.as<WmmaMoveOperands>();
  const Geometry geometry = geometry_of(warp, op);
  if (!check_geometry(warp, geometry)) return;
  const auto* regs = warp.cta->program().registers_of(op.registers);
  const std::uint32_t distinct = geometry.distinct(op.registers.count);
  // All elements of a register are loaded at once if they are adjacent in memory.
  const std::uint32_t pieces = geometry.has_neighbours() ? 1 : geometry.per_register();
  for (std::uint32_t r = 0; r < distinct; ++r) {
    for (std::uint32_t e = 0; e < pieces; ++e) {
      load_piece(warp, op, geometry, r, regs[r], e, geometry.register_bytes() / pieces);
    }
    if (warp.cta->failed()) return;
  }
  for (std::uint32_t r = distinct; r < op.registers.count; ++r) {
    const std::uint32_t same = regs[r - distinct];
    std::memcpy(warp.regs + regs[r], warp.regs + same, kSlotBytes);
    if (warp.tainted) std::memcpy(warp.taint_of(regs[r]), warp.taint_of(same), kWarpSize);
  }
}

void exec_wmma_store(Warp& warp, const Instr& in) {
  if (!wmma_ready(warp)) return;
  const auto& op = in.as<WmmaMoveOperands>();
  const Geometry geometry = geometry_of(warp, op);
  if (!check_geometry(warp, geometry)) return;
  const auto* regs = warp.cta->program().registers_of(op.registers);
  const std::uint32_t pieces = geometry.has_neighbours() ? 1 : geometry.per_register();
  for (std::uint32_t r = 0; r < op.registers.count; ++r) {
    for (std::uint32_t e = 0; e < pieces; ++e) {
      store_piece(warp, op, geometry, r, regs[r], e, geometry.register_bytes() / pieces);
    }
    if (warp.cta->failed()) return;
  }
}

void exec_wmma_mma(Warp& warp, const Instr& in) {
  if (!wmma_ready(warp)) return;
  const auto& op = in.as<WmmaOperands>();
  const MmaShape& shape = *op.half;
  const std::uint32_t* d = warp.cta->program().registers_of(op.registers);
  const std::uint32_t* a = d + op.cd_regs;
  const std::uint32_t* b = a + op.ab_regs;
  const std::uint32_t* c = b + op.ab_regs;
  MmaTile tile;
  gather_a(warp, a, shape.a, 16, tile.a);
  // The operands of both tiles are read before the first result is written, because the first
  // result could overwrite operands of the second product.
  MmaTile second;
  std::memcpy(second.a, tile.a, sizeof(tile.a));
  gather_b(warp, b, shape.b, 16, tile.b);
  gather_b(warp, b + 2, shape.b, 16, second.b);
  gather_c(warp, c, shape.c, tile.c);
  gather_c(warp, c + shape.c_regs, shape.c, second.c);
  if (warp.tainted) {
    propagate_mma_taint(warp, d, a, 4, b, 2, c, shape.c_regs);
    propagate_mma_taint(warp, d + shape.c_regs, a, 4, b + 2, 2, c + shape.c_regs, shape.c_regs);
  }
  multiply_tile(warp, shape, tile);
  multiply_tile(warp, shape, second);
  scatter_d(warp, d, shape.c, tile.d);
  scatter_d(warp, d + shape.c_regs, shape.c, second.d);
}

}  // namespace evo::ptx
