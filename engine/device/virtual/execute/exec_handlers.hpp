#pragma once

#include "engine/device/virtual/decode/program.hpp"

// Handlers that involve more than one lane or the state of the CTA, and what their fields mean.

namespace evo::ptx {

// Control. Target in imm.
void exec_branch(Warp& warp, const Instr& in);
/// brx.idx: the index register in src[0], targets in Program::extra.
void exec_indexed_branch(Warp& warp, const Instr& in);
void exec_exit(Warp& warp, const Instr& in);
void exec_nop(Warp& warp, const Instr& in);
void exec_trap(Warp& warp, const Instr& in);
/// Calls of vprintf and __assertfail; imm: index into Program::system_calls.
void exec_print(Warp& warp, const Instr& in);
void exec_assert_fail(Warp& warp, const Instr& in);
void exec_nanosleep(Warp& warp, const Instr& in);
/// aux: 0 %clock, 1 %clock64, 2 %globaltimer, 3 %clock_hi, 4 %globaltimer_lo.
void exec_clock(Warp& warp, const Instr& in);
void exec_activemask(Warp& warp, const Instr& in);
/// An instruction that cannot be executed; load() refuses programs that can reach it.
void exec_unsupported(Warp& warp, const Instr& in);

// mov between a scalar and its parts, in Program::extra; bytes: of one part.
void exec_pack(Warp& warp, const Instr& in);
void exec_unpack(Warp& warp, const Instr& in);

// bar.{sync,arrive,red}: src[0] the id, src[1] the count or none, src[2] the predicate of red.
enum class BarrierOp : std::uint16_t { kSync, kArrive, kPopc, kAnd, kOr };
void exec_barrier(Warp& warp, const Instr& in);
/// bar.warp.sync: src[0] the mask.
void exec_warp_barrier(Warp& warp, const Instr& in);

// cp.async: src[0] destination, src[1] source, src[2] source bytes or ignore predicate (aux
// kAsync…).
inline constexpr std::uint16_t kAsyncSize = 64;     ///< src[2] gives the source bytes
inline constexpr std::uint16_t kAsyncIgnore = 128;  ///< src[2] is a predicate: write zeros
inline constexpr std::uint16_t kSource64 = 256;
inline constexpr std::uint16_t kDestination64 = 512;
void exec_cp_async(Warp& warp, const Instr& in);
void exec_commit_group(Warp& warp, const Instr& in);
/// imm: groups that may stay pending; −1: wait for everything.
void exec_wait_group(Warp& warp, const Instr& in);
/// Lands every copy of `mask` lanes with fewer than `keep` newer groups; −1: all, committed or not.
void finish_copies(Warp& warp, std::uint32_t mask, std::int64_t keep);

// mbarrier: src[0] address with imm, further operands in src[1…2].
void exec_mbarrier_init(Warp& warp, const Instr& in);
void exec_mbarrier_inval(Warp& warp, const Instr& in);
/// aux bits beside the address flags.
inline constexpr std::uint16_t kMbarExpect = 64;     ///< arrive.expect_tx / expect_tx: src[1] bytes
inline constexpr std::uint16_t kMbarNoArrive = 128;  ///< expect_tx, complete_tx
inline constexpr std::uint16_t kMbarCount = 256;     ///< src[1] is the count
inline constexpr std::uint16_t kMbarComplete = 512;  ///< complete_tx
inline constexpr std::uint16_t kMbarNoComplete = 1024;
void exec_mbarrier_arrive(Warp& warp, const Instr& in);
inline constexpr std::uint16_t kMbarParity = 64;  ///< src[1] is a parity, else a state
inline constexpr std::uint16_t kMbarTry = 128;    ///< try_wait: lets other warps run
void exec_mbarrier_wait(Warp& warp, const Instr& in);
/// cp.async.mbarrier.arrive; aux kMbarNoInc for .noinc.
inline constexpr std::uint16_t kMbarNoInc = 64;
void exec_cp_async_mbarrier_arrive(Warp& warp, const Instr& in);

// Exchange between lanes.
/// shfl.sync: src a, b, c, membermask; dst2 the predicate; aux: 0 up, 1 down, 2 bfly, 3 idx.
void exec_shuffle(Warp& warp, const Instr& in);
/// vote.sync: src predicate, membermask; aux: 0 all, 1 any, 2 uni, 3 ballot.
void exec_vote(Warp& warp, const Instr& in);
/// match.sync: src value, membermask; aux: bit 0 all, bit 1 64-bit.
void exec_match(Warp& warp, const Instr& in);
/// redux.sync: src value, membermask; aux: 0 add, 1 min.u, 2 max.u, 3 min.s, 4 max.s, 5 and, 6 or,
/// 7 xor.
void exec_redux(Warp& warp, const Instr& in);
/// elect.sync: dst lane or none, dst2 predicate, src[0] membermask.
void exec_elect(Warp& warp, const Instr& in);

// tex: src[0] the handle, src[1] and src[2] coordinates, src[2] none in one dimension; four
// destinations or none in extra.
inline constexpr std::uint16_t kTextureOfFloats = 1;   ///< the destinations are f32, else integers
inline constexpr std::uint16_t kWholeCoordinates = 2;  ///< the coordinates are s32, else f32
void exec_texture(Warp& warp, const Instr& in);

// Atomics: src address, operand, second operand; dst or none; aux address flags, extra: AtomicOp.
enum class AtomicOp : std::uint32_t { kAdd, kMin, kMax, kExch, kCas, kInc, kDec, kAnd, kOr, kXor };
/// The handler for an operation on a type, or nullptr.
[[nodiscard]] Handler atomic_handler(AtomicOp op, Type type);

// Matrices.
/// ldmatrix: destinations in extra; count matrices; aux kAddress64 | kTransposed.
inline constexpr std::uint16_t kTransposed = 64;
void exec_ldmatrix(Warp& warp, const Instr& in);
void exec_stmatrix(Warp& warp, const Instr& in);
/// movmatrix.trans.
void exec_movmatrix(Warp& warp, const Instr& in);

/// mma.sync: registers of D, A, B, C one after the other in extra; imm: index of the shape below.
struct MmaShape {
  Type a;
  Type b;
  Type c;  ///< accumulator and result: f32, f16 or s32
  int k;
  int a_regs;
  int b_regs;
  int c_regs;
};
/// The shapes mma.sync and (as two of them) wmma know; −1 when there is none.
[[nodiscard]] int find_mma_shape(int k, Type a, Type b, Type c);
[[nodiscard]] const MmaShape& mma_shape(int index);
void exec_mma(Warp& warp, const Instr& in);

/// wgmma.mma_async: registers of D, then of A when it is in registers, in extra; imm: index of the
/// shape; count: n-tiles of 8 columns; src[0] descriptor of B, src[1] of A or none, src[2] scale-d.
inline constexpr std::uint16_t kNegateA = 64;
inline constexpr std::uint16_t kNegateB = 128;
inline constexpr std::uint16_t kTransposeA = 256;
inline constexpr std::uint16_t kTransposeB = 512;
void exec_wgmma(Warp& warp, const Instr& in);
void exec_wgmma_fence(Warp& warp, const Instr& in);
void exec_wgmma_commit(Warp& warp, const Instr& in);
/// imm: groups that may stay pending.
void exec_wgmma_wait(Warp& warp, const Instr& in);
/// An instruction that may touch registers of a wgmma in flight, or a wgmma whose registers may
/// have been written since the last wgmma.fence: Program::product_checks says which. Reports, then
/// does what the instruction does.
void exec_checked(Warp& warp, const Instr& in);
/// setmaxnreg: imm registers per thread; aux 1 for .inc.
void exec_setmaxnreg(Warp& warp, const Instr& in);

/// wmma: see exec_wmma.cpp for the layout of fragments. What is not m16n16k16 of f16 or bf16 has a
/// shape of this table.
struct WmmaShape {
  int m;
  int n;
  int k;
  Type ab;
  Type c;  ///< accumulator and result

  /// Distinct registers of a fragment: f16 ones of A and B have eight, which repeat these.
  [[nodiscard]] int a_regs() const { return m * k * element_bits() / 1024; }
  [[nodiscard]] int b_regs() const { return k * n * element_bits() / 1024; }
  [[nodiscard]] int c_regs() const { return c == Type::kF16 ? m * n / 64 : m * n / 32; }

 private:
  [[nodiscard]] int element_bits() const {
    return ab == Type::kTf32 ? 32 : ab == Type::kF16 || ab == Type::kBf16 ? 16 : 8;
  }
};
/// −1 when there is none.
[[nodiscard]] int find_wmma_shape(std::string_view mnk, Type ab, Type c);
/// One with these sizes and a fragment `part` of this type.
enum class WmmaPart : std::uint16_t { kA, kB, kC };
[[nodiscard]] int find_wmma_fragment(std::string_view mnk, WmmaPart part, Type type);
[[nodiscard]] const WmmaShape& wmma_shape(int index);
/// imm: index of the shape; registers of D, A, B, C in extra; `bytes` in A, `count` in B.
void exec_wmma_shape_mma(Warp& warp, const Instr& in);
inline constexpr std::uint16_t kWmmaSaturate = 1;
/// In aux of a load or store: 1 + index of the shape above, 0 for m16n16k16 of f16 or bf16.
inline constexpr int kWmmaShapeShift = 8;
inline constexpr std::uint16_t kWmmaColumnMajor = 64;
inline constexpr std::uint16_t kWmmaHasStride = 128;
/// False, with a fault, where lanes of the warp cannot come.
bool wmma_ready(Warp& warp);
void exec_wmma_load(Warp& warp, const Instr& in);
void exec_wmma_store(Warp& warp, const Instr& in);
void exec_wmma_mma(Warp& warp, const Instr& in);

}  // namespace evo::ptx
