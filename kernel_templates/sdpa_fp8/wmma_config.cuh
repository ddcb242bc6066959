// The macros of wmma.cu: allowed combinations, derived constants, and the layout of shared memory.
// The search spaces repeat the rules by their values and constraints, with reasons.
#pragma once

#include "common/types.cuh"

#if !defined(HEAD_DIM) || !defined(TILE_M) || !defined(TILE_N) || !defined(WARPS) ||    \
    !defined(WARPS_KV) || !defined(STAGES) || !defined(QK_WMMA) || !defined(PV_WMMA) || \
    !defined(REUSE_SCORES) || !defined(FUSED_SOFTMAX) || !defined(SWIZZLE) ||           \
    !defined(PRODUCER_WARPS) || !defined(PERSISTENT_CTA) || !defined(FAST_EXP) ||       \
    !defined(Q_IN_REGS) || !defined(LAZY_RESCALE) || !defined(UNROLL) || !defined(MIN_CTAS)
#error a macro of the template is not defined: see search_spaces/sdpa_fp8_wmma_l4.json for the list
#endif
#if HEAD_DIM != 64 && HEAD_DIM != 128
#error HEAD_DIM is 64 or 128
#endif
#if STAGES < 0 || STAGES > 4
#error STAGES is 0 to 4: named barriers for more are not supported
#endif
#if PRODUCER_WARPS < 0 || PRODUCER_WARPS > 2
#error PRODUCER_WARPS is 0, 1 or 2
#endif
#if WARPS_KV < 1 || WARPS % WARPS_KV != 0
#error WARPS_KV must divide WARPS: each group of warps takes an equal share of the keys
#endif
#if TILE_M % (16 * (WARPS / WARPS_KV)) != 0
#error TILE_M must give every warp of a group the same number of 16-row blocks
#endif
#if TILE_M > 32 * (WARPS / WARPS_KV)
#error TILE_M must not exceed 32 rows per warp: accumulators for more do not fit the registers
#endif
#if TILE_N % (16 * WARPS_KV) != 0
#error TILE_N must give every group of warps a multiple of 16 keys
#endif
#if !PV_WMMA && TILE_M > 16 * (WARPS / WARPS_KV)
#error without PV_WMMA a warp takes 16 rows: the scalar accumulators of 32 do not fit the registers
#endif
#if REUSE_SCORES && !PV_WMMA
#error REUSE_SCORES needs PV_WMMA: without PV_WMMA, P in f32 always overwrites the scores
#endif
#if SWIZZLE == SWIZZLE_XOR && QK_WMMA
#error SWIZZLE xor needs scalar Q.K: wmma.load reads rows at a constant stride
#endif
#if Q_IN_REGS && !QK_WMMA
#error Q_IN_REGS needs QK_WMMA: the scalar product reads Q as broadcasts from shared memory
#endif
#if PRODUCER_WARPS > 0 && STAGES < 2
#error PRODUCER_WARPS needs STAGES >= 2: with one slot producers and consumers only take turns
#endif
#if UNROLL > 1 && !QK_WMMA && !PV_WMMA
#error UNROLL > 1 needs a WMMA product: only the WMMA loops are unrolled by UNROLL
#endif
#if 16 * UNROLL * WARPS_KV > TILE_N
#error UNROLL must not exceed the 16-key blocks of a warp
#endif

// Work split: a warp processes kRowGroups blocks of 16 rows and kKeys keys of each tile.
constexpr int kWarpsM = WARPS / WARPS_KV;
constexpr int kRowGroups = TILE_M / (16 * kWarpsM);
constexpr int kRows = 16 * kRowGroups;
constexpr int kKeys = TILE_N / WARPS_KV;
constexpr int kConsumers = kWarp * WARPS;
constexpr int kProducers = kWarp * PRODUCER_WARPS;
constexpr int kThreads = kConsumers + kProducers;
/// Threads that copy tiles.
constexpr int kCopiers = PRODUCER_WARPS > 0 ? kProducers : kConsumers;
constexpr int kUnroll = UNROLL;
constexpr int kRowChunks = HEAD_DIM / kChunkBytes;  ///< 16-byte chunks of a row of e4m3

// Numbers of the named barriers; barrier 0 is that of the whole CTA.
constexpr int kConsumerBarrier = 1;
constexpr int kFullBarrier = 2;                       ///< kFullBarrier + slot: its tile has arrived
constexpr int kEmptyBarrier = kFullBarrier + STAGES;  ///< kEmptyBarrier + slot: its tile was read

// Strides in shared memory, in elements of the type behind each stride (kKRowBytes: in bytes).
// Extra elements put the rows that a warp reads at once in different banks.
constexpr int kScoreStride = kKeys + 8;                                   ///< f32
constexpr int kProbStride = REUSE_SCORES ? 2 * kScoreStride : kKeys + 8;  ///< f16
constexpr int kQStride = QK_WMMA ? HEAD_DIM + 8 : HEAD_DIM + 4;           ///< f16 or f32
constexpr int kKRowBytes = HEAD_DIM + (SWIZZLE == SWIZZLE_PAD && !QK_WMMA ? kChunkBytes : 0);
constexpr int kKHalfStride = HEAD_DIM + (SWIZZLE == SWIZZLE_PAD ? 8 : 0);  ///< f16
constexpr int kVHalfStride = HEAD_DIM + 8;                                 ///< f16
constexpr int kOutStride = HEAD_DIM + 8;                                   ///< f32

// The ring of e4m3 tiles: cp.async fills STAGES slots. Plain loads need one slot, and only for an
// operand that is read as bytes.
constexpr int kKSlots = STAGES > 0 ? STAGES : (QK_WMMA ? 0 : 1);
constexpr int kVSlots = STAGES > 0 ? STAGES : (PV_WMMA ? 0 : 1);
constexpr int kKSlotBytes = TILE_N * kKRowBytes;
constexpr int kVSlotBytes = TILE_N * HEAD_DIM;

// Byte offsets in dynamic shared memory, all multiples of 32. `dynamic_shared_bytes` in
// problem.json is kSharedBytes.
constexpr int kQOffset = 0;
constexpr int kScoreOffset = kQOffset + TILE_M * kQStride * (QK_WMMA ? 2 : 4);
constexpr int kProbOffset =
    REUSE_SCORES ? kScoreOffset : kScoreOffset + WARPS * kRows * kScoreStride * 4;
constexpr int kStatsOffset = REUSE_SCORES
                                 ? kScoreOffset + WARPS * kRows * kScoreStride * 4
                                 : kProbOffset + (PV_WMMA ? WARPS * kRows * kProbStride * 2 : 0);
/// The claimed work item follows three f32 per row and group of warps: maximum, sum, correction.
constexpr int kClaimOffset = kStatsOffset + 3 * 4 * TILE_M * WARPS_KV;
constexpr int kTileOffset = kClaimOffset + 32;
constexpr int kVRingOffset = kTileOffset + kKSlots * kKSlotBytes;
constexpr int kKHalfOffset = kVRingOffset + kVSlots * kVSlotBytes;
constexpr int kVHalfOffset = kKHalfOffset + (QK_WMMA ? TILE_N * kKHalfStride * 2 : 0);
constexpr int kTileEnd = kVHalfOffset + (PV_WMMA ? TILE_N * kVHalfStride * 2 : 0);
/// The finished rows in f32 overlap the tiles, which are no longer needed at the end.
constexpr int kOutOffset = kTileOffset;
constexpr int kSharedBytes = max_of(kTileEnd, kOutOffset + TILE_M * kOutStride * 4);

static_assert(kThreads <= 1024, "a CTA has at most 1024 threads");
static_assert(kEmptyBarrier + STAGES <= 16, "a CTA has 16 named barriers");
static_assert(kScoreOffset % 32 == 0 && kProbOffset % 32 == 0 && kStatsOffset % 32 == 0 &&
                  kTileOffset % 32 == 0 && kVRingOffset % 32 == 0 && kKHalfOffset % 32 == 0 &&
                  kVHalfOffset % 32 == 0,
              "wmma reads and writes at multiples of 32 bytes");

/// The kernel's arguments for one (batch, head).
struct Head {
  const u8* q;
  const u8* k;
  const u8* v;
  u16* o;
  int seq_len;
};

/// This thread's part of the work.
struct Role {
  int lane;
  int split;      ///< index of the warp's share of the keys
  int first_row;  ///< first row of this warp in the tile of queries
  int warp;
};
