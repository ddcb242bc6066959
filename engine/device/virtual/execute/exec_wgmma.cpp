#include "engine/device/virtual/execute/exec_wgmma.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/mma_fragments.hpp"
#include "engine/device/virtual/execute/wgmma_layout.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes wgmma.mma_async. Each warp of the warpgroup computes 16 of the 64 rows, in tiles of
// eight columns, and reads all of B. The product is computed when the wgmma is issued. Until the
// warp waits for the wgmma, the wgmma's reads of shared memory stay recorded for the race check,
// and exec_checked() reports uses of the wgmma's registers.

namespace evo::ptx {
namespace {

constexpr std::uint32_t kBlocksOfA = 2;  ///< blocks of eight rows per warp

/// Shared-memory addresses of the 16-byte chunks of a matrix, block after block.
using Chunks = std::vector<std::uint32_t>;

void append_block(Chunks& chunks, const MatrixDescriptor& matrix, bool k_major,
                  std::uint32_t block) {
  const auto addresses = block_addresses(matrix, k_major, block);
  chunks.insert(chunks.end(), addresses.begin(), addresses.end());
}

/// The value of a register that must be equal in all 32 threads. If the values differ between
/// threads, ends the launch and returns nullopt.
std::optional<std::uint64_t> uniform(Warp& warp, std::uint32_t reg, const char* what) {
  const auto* value = warp.reg<const std::uint64_t>(reg);
  if (warp.tainted) {
    const std::uint32_t lanes = tainted_lanes(warp, reg, 8, kAllLanes);
    if (lanes != 0) report_tainted_use(warp, lanes, "form an address");
  }
  for (int lane = 1; lane < kWarpSize; ++lane) {
    if (value[lane] == value[0]) continue;
    warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                   std::string("the descriptor of ") + what + " differs between " +
                       warp.cta->names().thread(warp.index, 0) + " and " +
                       warp.cta->names().thread(warp.index, lane));
    return std::nullopt;
  }
  return value[0];
}

/// The value of scale-d; if it is true, the product is added to the accumulators. Nullopt if
/// scale-d differs between threads, which is reported and ends the launch.
std::optional<bool> accumulates(Warp& warp, const WgmmaOperands& op) {
  const std::uint32_t lanes =
      op.negated_scale ? ~warp.predicate(op.scale) : warp.predicate(op.scale);
  if (warp.tainted) {
    const std::uint32_t unknown = tainted_lanes(warp, op.scale, 1, kAllLanes);
    if (unknown != 0) report_tainted_use(warp, unknown, "decide what is executed");
  }
  if (lanes == 0 || lanes == kAllLanes) return lanes != 0;
  warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                 "scale-d differs between threads of warp " + std::to_string(warp.index));
  return std::nullopt;
}

/// Checks that the warpgroup has four warps and that they execute the same sequence of wgmma. If a
/// check fails, ends the launch and returns false.
bool join_warpgroup(Warp& warp, std::uint64_t a, std::uint64_t b) {
  Cta& cta = *warp.cta;
  const int first = warp.index / kGroupWarps * kGroupWarps;
  if (first + kGroupWarps > static_cast<int>(cta.warps().size())) {
    cta.fail(HazardKind::kDivergence, pc_of(warp), -1,
             "warp " + std::to_string(warp.index) + " has no whole warpgroup: wgmma needs warps " +
                 std::to_string(first) + " to " + std::to_string(first + 3) +
                 ", but the number of warps of the CTA is " + std::to_string(cta.warps().size()));
    return false;
  }
  const auto other = cta.warpgroup(warp).issue(warp.index - first, {warp.pc, a, b});
  cta.wake_retrying();
  if (!other) return true;
  cta.fail(
      HazardKind::kDivergence, pc_of(warp), static_cast<int>(other->pc),
      "warp " + std::to_string(warp.index) + " executes wgmma number " +
          std::to_string(cta.warpgroup(warp).issued(warp.index - first)) +
          (other->pc == warp.pc ? " with other descriptors than another warp of its warpgroup"
                                : ", but another warp of its warpgroup executes another wgmma"));
  return false;
}

bool in_bounds(Warp& warp, const MatrixDescriptor& matrix, const Chunks& chunks, const char* what) {
  Cta& cta = *warp.cta;
  if (matrix.base_offset != 0) {
    cta.fail(HazardKind::kUnsupported, pc_of(warp), -1,
             "base offset " + std::to_string(matrix.base_offset) + " in the descriptor of " + what);
    return false;
  }
  const std::uint32_t limit = cta.shared_bytes();
  const std::uint32_t largest = *std::ranges::max_element(chunks);
  if (largest + kChunkBytes <= limit) return true;
  cta.fail(HazardKind::kOutOfBounds, pc_of(warp), -1,
           "read of 16 bytes of " + std::string(what) + " at shared address " +
               std::to_string(largest) + " by warp " + std::to_string(warp.index) +
               "; the CTA has " + std::to_string(limit) + " bytes of shared memory");
  return false;
}

/// Calls `body` with an access to up to 32 chunks and the index of its first chunk, until all
/// chunks are accessed.
template <typename F>
void for_accesses(int warp, std::uint32_t pc, const Chunks& chunks, F&& body) {
  std::array<std::uint64_t, kWarpSize> address{};
  for (std::size_t from = 0; from < chunks.size(); from += kWarpSize) {
    const std::size_t count = std::min<std::size_t>(kWarpSize, chunks.size() - from);
    std::copy_n(chunks.begin() + static_cast<std::ptrdiff_t>(from), count, address.begin());
    const std::uint32_t mask = count == kWarpSize ? kAllLanes : (1U << count) - 1;
    body(RaceChecker::Access{warp, pc, mask, address.data(), kChunkBytes, AccessKind::kPlain},
         from);
  }
}

/// For each block of a matrix, a mask: bit r is set if row r of a block of A, or column r of a
/// block of B, has uninitialised bytes.
using BlockTaint = std::vector<std::uint8_t>;

std::uint8_t chunk_taint(const RaceChecker& races, std::uint32_t address, std::size_t chunk,
                         bool k_major) {
  const std::uint32_t bytes = races.taint_mask(address, kChunkBytes);
  std::uint32_t rows = 0;
  if (k_major) {
    if (bytes != 0) rows = 1U << (chunk % kBlockChunks / 2);
  } else {
    for (std::uint32_t row = 0; row < 8; ++row) {
      if (((bytes >> (2 * row)) & 3U) != 0) rows |= 1U << row;
    }
  }
  return static_cast<std::uint8_t>(rows);
}

/// Tells the race checker that a wgmma starts to read a matrix from shared memory. Returns the
/// taint of the matrix, which is empty if the kernel has written all its bytes.
BlockTaint begin_reads(Warp& warp, const Chunks& chunks, bool k_major) {
  RaceChecker& races = warp.cta->races();
  BlockTaint taint;
  for_accesses(
      warp.index, warp.pc, chunks, [&](const RaceChecker::Access& access, std::size_t from) {
        auto result = races.begin_async_read(access);
        for (Conflict& conflict : result.conflicts) conflict.lane = kWarpSize;
        if (!result.conflicts.empty()) report_conflicts(warp, result, "asynchronous read");
        for (std::uint32_t left = result.unwritten; left != 0; left &= left - 1) {
          const std::size_t chunk = from + static_cast<std::size_t>(std::countr_zero(left));
          taint.resize(chunks.size() / kBlockChunks);
          std::uint8_t& rows = taint[chunk / kBlockChunks];
          rows =
              static_cast<std::uint8_t>(rows | chunk_taint(races, chunks[chunk], chunk, k_major));
        }
      });
  return taint;
}

/// The destination of the elements of a block after they are widened to f32: out[row · row_step + k
/// · k_step].
struct BlockPlace {
  float* out;
  std::size_t row_step;
  std::size_t k_step;
};

void load_block(const std::byte* shared, const std::uint32_t* chunks, bool k_major, Type type,
                const BlockPlace& place) {
  const std::size_t elements = static_cast<std::size_t>(elements_per_register(type)) * 4;
  std::array<float, kChunkBytes> values;
  for (std::size_t i = 0; i < kBlockChunks; ++i) {
    widen_chunk(shared + chunks[i], type, values.data());
    const std::size_t row = k_major ? i / 2 : 0;
    const std::size_t k = k_major ? i % 2 * elements : i;
    float* out = place.out + row * place.row_step + k * place.k_step;
    const std::size_t step = k_major ? place.k_step : place.row_step;
    for (std::size_t e = 0; e < elements; ++e) out[e * step] = values[e];
  }
}

void negate(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = -values[i];
}

struct Matrices {
  Chunks a;  ///< empty: A is in registers
  Chunks b;
  BlockTaint a_taint;
  BlockTaint b_taint;
  bool a_k_major = true;
  bool b_k_major = true;
  bool adds = true;
};

/// The rows of the warp's results that depend on uninitialised elements of A.
std::uint32_t tainted_rows(const Warp& warp, const Matrices& matrices, const std::uint32_t* a,
                           int a_regs) {
  std::uint32_t rows = 0;
  for (std::size_t block = 0; block < matrices.a_taint.size(); ++block)
    rows |= static_cast<std::uint32_t>(matrices.a_taint[block]) << (8 * block);
  if (!matrices.a.empty() || !warp.tainted) return rows;
  return rows | tainted_rows_of_a(warp, a, a_regs);
}

void multiply(Warp& warp, const WgmmaOperands& op, const Matrices& matrices) {
  const MmaShape& shape = *op.shape;
  const std::uint32_t* d = warp.cta->program().registers_of(op.registers);
  const std::ptrdiff_t registers = op.tiles * std::ptrdiff_t{shape.c_regs};
  const std::uint32_t* a = d + registers;
  const auto k = static_cast<std::size_t>(shape.k);
  const std::byte* shared = warp.cta->shared();
  const MmaNumerics& numerics = warp.cta->launch().numerics;
  const DotRule& rule =
      elements_per_register(shape.a) == 4 ? numerics.wgmma_fp8 : numerics.wgmma_half;
  MmaTile tile;
  for (std::size_t block = 0; block < kBlocksOfA && !matrices.a.empty(); ++block) {
    load_block(shared, matrices.a.data() + block * kBlockChunks, matrices.a_k_major, shape.a,
               {tile.a + block * 8 * k, k, 1});
  }
  if (matrices.a.empty()) gather_a(warp, a, shape.a, shape.k, tile.a);
  if (op.negates_a) negate(tile.a, 16 * k);
  const std::uint32_t rows = tainted_rows(warp, matrices, a, shape.a_regs);
  const bool tainted = warp.tainted || rows != 0 || !matrices.b_taint.empty();
  if (tainted) take_foreign_taint(warp);
  for (std::size_t n = 0; n < op.tiles; ++n, d += shape.c_regs) {
    load_block(shared, matrices.b.data() + n * kBlockChunks, matrices.b_k_major, shape.b,
               {tile.b, 1, 8});
    if (op.negates_b) negate(tile.b, 8 * k);
    if (matrices.adds) {
      gather_c(warp, d, shape.c, tile.c);
    } else {
      std::ranges::fill(tile.c, 0.0F);
    }
    mma_tile(rule, shape.k, least_exponent(shape.a == shape.b ? shape.a : Type::kE5m2),
             shape.c == Type::kF16, tile.a, tile.b, tile.c, tile.d);
    scatter_d(warp, d, shape.c, tile.d);
    if (tainted) {
      const std::uint32_t columns = matrices.b_taint.empty() ? 0 : matrices.b_taint[n];
      spread_mma_taint(warp, d, matrices.adds ? d : nullptr, shape.c_regs, rows, columns);
    }
  }
}

/// Counts the wavefronts with which a wgmma reads shared memory. The four warps of a warpgroup
/// share one read of B.
void count_reads(Warp& warp, const Matrices& matrices) {
  constexpr std::size_t kBytesAPass = 128;
  MemoryCounts& counts = warp.cta->memory_counts()[warp.pc];
  counts.shared_wavefronts +=
      (matrices.a.size() + matrices.b.size() / kGroupWarps) * kChunkBytes / kBytesAPass;
}

/// Finds the addresses of the chunks of B and, unless A is in registers, of A in shared memory.
/// Returns false if a hazard was reported, because the operands or the warpgroup are invalid.
bool find_matrices(Warp& warp, const WgmmaOperands& op, Matrices& matrices) {
  const auto b = uniform(warp, op.b, "B");
  const auto a = op.a == kNoRegister ? std::optional<std::uint64_t>(0) : uniform(warp, op.a, "A");
  const auto adds = accumulates(warp, op);
  if (!a || !b || !adds || !join_warpgroup(warp, *a, *b)) return false;
  matrices.adds = *adds;
  matrices.a_k_major = !op.transposes_a;
  matrices.b_k_major = !op.transposes_b;
  const MatrixDescriptor b_matrix = matrix_descriptor(*b);
  for (std::uint32_t n = 0; n < op.tiles; ++n)
    append_block(matrices.b, b_matrix, matrices.b_k_major, n);
  if (!in_bounds(warp, b_matrix, matrices.b, "B")) return false;
  if (op.a == kNoRegister) return true;
  const MatrixDescriptor a_matrix = matrix_descriptor(*a);
  const auto quarter = static_cast<std::uint32_t>(warp.index % kGroupWarps);
  for (std::uint32_t block = 0; block < kBlocksOfA; ++block)
    append_block(matrices.a, a_matrix, matrices.a_k_major, quarter * kBlocksOfA + block);
  return in_bounds(warp, a_matrix, matrices.a, "A");
}

}  // namespace

void exec_wgmma(Warp& warp, const Instr& in) {
  if (!converge(warp, kAllLanes)) return;
  sync_lanes(warp);
  Cta& cta = *warp.cta;
  if (warp.exec != kAllLanes) {
    cta.fail(HazardKind::kDivergence, pc_of(warp), -1,
             "wgmma needs all 32 lanes of warp " + std::to_string(warp.index));
    return;
  }
  const auto& op = in.as<WgmmaOperands>();
  Matrices matrices;
  if (!find_matrices(warp, op, matrices)) return;
  if (cta.launch().count_memory) count_reads(warp, matrices);
  if (cta.launch().check) {
    matrices.b_taint = begin_reads(warp, matrices.b, matrices.b_k_major);
    if (!matrices.a.empty()) matrices.a_taint = begin_reads(warp, matrices.a, matrices.a_k_major);
  }
  multiply(warp, op, matrices);
  if (!cta.launch().check) return;
  PendingProduct& product = warp.products.emplace_back();
  product.pc = warp.pc;
  product.group = warp.product_groups;
  product.number = cta.warpgroup(warp).issued(warp.index % kGroupWarps) - 1;
  product.chunks = std::move(matrices.b);
  product.chunks.insert(product.chunks.end(), matrices.a.begin(), matrices.a.end());
}

void exec_wgmma_wait(Warp& warp, const Instr& in) {
  if (!converge(warp, kAllLanes)) return;
  Cta& cta = *warp.cta;
  const auto done = std::ranges::find_if(warp.products, [&](const PendingProduct& product) {
    return static_cast<std::int64_t>(warp.product_groups - product.group) <=
           in.as<WgmmaWaitOperands>().keep;
  });
  const auto count = done - warp.products.begin();
  if (count == 0) {
    sync_lanes(warp);
    return;
  }
  // On hardware, no warp continues before all four warps have issued the wgmma, so this warp waits
  // for the other warps.
  if (std::prev(done)->number >= cta.warpgroup(warp).issued_by_all()) {
    cta.retry_later(warp, in);
    return;
  }
  const auto each = [&](const PendingProduct& product, auto&& body) {
    for_accesses(warp.index, product.pc, product.chunks,
                 [&](const RaceChecker::Access& access, std::size_t) { body(access); });
  };
  for (auto at = warp.products.begin(); at != done; ++at)
    each(*at, [&](const auto& access) { cta.races().complete_async_read(access); });
  for (auto at = done; at != warp.products.end(); ++at)
    each(*at, [&](const auto& access) { cta.races().mark_async_read(access); });
  warp.products.erase(warp.products.begin(), done);
  sync_lanes(warp);
}

}  // namespace evo::ptx
