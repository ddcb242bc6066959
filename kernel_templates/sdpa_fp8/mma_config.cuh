// The macros of mma.cu: allowed combinations, derived constants, and the layout of shared memory.
// The search spaces repeat the rules by their values and constraints, with reasons.
#pragma once

#include "common/types.cuh"

#if !defined(HEAD_DIM) || !defined(CAUSAL) || !defined(WARP_M) || !defined(WARPS_M) ||         \
    !defined(WARPS_KV) || !defined(TILE_N) || !defined(STEP_N) || !defined(STAGES_K) ||        \
    !defined(STAGES_V) || !defined(PRODUCER_WARPS) || !defined(PERSISTENT_CTA) ||              \
    !defined(SPLIT_KV) || !defined(EXP) || !defined(SWIZZLE) || !defined(QK_MODE) ||           \
    !defined(PV_MODE) || !defined(Q_IN_REGS) || !defined(LAZY_RESCALE) || !defined(ROW_SUM) || \
    !defined(PIPELINE) || !defined(MIN_CTAS) || !defined(MAX_REGISTERS)
#error a macro of the template is not defined: see search_spaces/sdpa_fp8_mma_l4.json for the list
#endif
#ifndef PDL
#define PDL 0  // spaces for devices before sm_90 lack this macro
#endif
#if HEAD_DIM != 64 && HEAD_DIM != 128
#error HEAD_DIM is 64 or 128
#endif
#if WARP_M != 16 && WARP_M != 32
#error WARP_M is 16 or 32: accumulators of more rows do not fit the registers
#endif
#if WARPS_KV != 1 && WARPS_KV != 2 && WARPS_KV != 4
#error WARPS_KV is 1, 2 or 4: the merge gives each of these warps an equal share of the columns
#endif
#if WARPS_M < 1 || (WARPS_M & (WARPS_M - 1)) != 0 || 32 * WARPS_M * WARPS_KV > 512
#error WARPS_M is a power of two, and at most 16 warps compute
#endif
#if TILE_N % (STEP_N * WARPS_KV) != 0
#error STEP_N must divide a warp's share of the tile, TILE_N / WARPS_KV
#endif
#if PV_MODE == PV_MODE_FP8 && STEP_N % 32 != 0
#error STEP_N must be a multiple of 32 with PV_MODE fp8: the k of its mma
#endif
#if STEP_N % 16 != 0
#error STEP_N must be a multiple of 16: the k of the f16 mma
#endif
#if STAGES_V < 1 || STAGES_K < STAGES_V || STAGES_K > 4
#error STAGES: 1 <= STAGES_V <= STAGES_K <= 4, since K is needed first
#endif
#if STAGES_K == 1 && TILE_N != STEP_N * WARPS_KV
#error STAGES_K 1 needs one step a tile: its slot is refilled as soon as the first scores are there
#endif
#if PRODUCER_WARPS < 0 || PRODUCER_WARPS > 2
#error PRODUCER_WARPS is 0, 1 or 2
#endif
#if PRODUCER_WARPS > 0 && STAGES_K < 2
#error PRODUCER_WARPS needs STAGES_K >= 2: with one slot producers and consumers only take turns
#endif
#if SPLIT_KV != 1 && SPLIT_KV != 2 && SPLIT_KV != 4
#error SPLIT_KV is 1, 2 or 4: the workspace is made for at most 4
#endif
#if SPLIT_KV > 1 && PERSISTENT_CTA != PERSISTENT_CTA_NONE
#error SPLIT_KV needs PERSISTENT_CTA none: it is for few CTAs, PERSISTENT_CTA for more than fit
#endif
#if QK_MODE == QK_MODE_FP8 && Q_IN_REGS == Q_IN_REGS_HALVES
#error Q_IN_REGS halves needs QK_MODE f16: e4m3 operands are bytes
#endif
#if (QK_MODE == QK_MODE_FP8 || PV_MODE == PV_MODE_FP8) && defined(__CUDA_ARCH__) && \
    __CUDA_ARCH__ < 890
#error fp8 modes need sm_89: e4m3 operands of mma.sync
#endif
#if PV_MODE == PV_MODE_FP8 && LAZY_RESCALE > 8
#error LAZY_RESCALE is at most 8 with PV_MODE fp8: small P would become 0
#endif
#if PIPELINE && Q_IN_REGS != (QK_MODE == QK_MODE_FP8 ? Q_IN_REGS_BYTES : Q_IN_REGS_HALVES)
#error PIPELINE needs the operands of Q in registers as the mma reads them
#endif
#if PIPELINE && PRODUCER_WARPS == 0 && STAGES_V < 2
#error PIPELINE needs STAGES_V >= 2: V of a tile is read after K of the next tile has arrived
#endif
#if PIPELINE && PRODUCER_WARPS == 0 && TILE_N != STEP_N * WARPS_KV
#error PIPELINE without producers needs one step a tile: V arrives with K of the next tile
#endif
#if (EXP == EXP_LINEAR || EXP == EXP_ALTERNATE) && (PV_MODE != PV_MODE_FP8 || ROW_SUM != ROW_SUM_MMA)
#error EXP linear and alternate need PV_MODE fp8 and ROW_SUM mma: they compute bytes of e4m3
#endif
#if (EXP == EXP_LINEAR || EXP == EXP_ALTERNATE) && LAZY_RESCALE > 4
#error LAZY_RESCALE is at most 4 with EXP linear and alternate: small P would become 0
#endif
#if PIPELINE && STAGES_K < 2
#error PIPELINE needs STAGES_K >= 2: K of the next tile must be there
#endif
#if LAZY_RESCALE < 0 || LAZY_RESCALE > 15
#error LAZY_RESCALE is 0 to 15: P reaches 2^LAZY_RESCALE, f16 ends at 65504
#endif

constexpr bool kCausal = CAUSAL != 0;
constexpr bool kQkFp8 = QK_MODE == QK_MODE_FP8;
constexpr bool kPvFp8 = PV_MODE == PV_MODE_FP8;
/// Whether a branch skips the rescaling that LAZY_RESCALE avoids, before the exponentials.
constexpr bool kBranches = true;
constexpr bool kSumByMma = ROW_SUM == ROW_SUM_MMA;
constexpr bool kPipelined = PIPELINE != 0;
constexpr bool kQInShared = Q_IN_REGS == Q_IN_REGS_NO;
constexpr bool kPersistent = PERSISTENT_CTA != PERSISTENT_CTA_NONE;
constexpr bool kQueued = PERSISTENT_CTA == PERSISTENT_CTA_DYNAMIC;

// Work split: a warp processes kBlocks blocks of 16 rows and kKeys keys of each tile.
constexpr int kTileM = WARP_M * WARPS_M;
constexpr int kBlocks = WARP_M / 16;
constexpr int kKeys = TILE_N / WARPS_KV;
constexpr int kConsumers = kWarp * WARPS_M * WARPS_KV;
constexpr int kProducers = kWarp * PRODUCER_WARPS;
constexpr int kThreads = kConsumers + kProducers;
constexpr int kCopiers = PRODUCER_WARPS > 0 ? kProducers : kConsumers;
/// Limit of registers per thread, so that MIN_CTAS CTAs fit the 65536 registers of an SM; registers
/// are allocated in steps of eight. __launch_bounds__ cannot be used, because it excludes
/// __maxnreg__.
constexpr int kMaxRegisters = min_of(MAX_REGISTERS, 65536 / (MIN_CTAS * kThreads) / 8 * 8);

// Chunks of 16 bytes in a row of D bytes, and other divisions of rows and tiles.
constexpr int kRowChunks = HEAD_DIM / kChunkBytes;
constexpr int kGroups = HEAD_DIM / 64;      ///< 64-byte groups of a row; a quad loads one at once
constexpr int kColumnTiles = HEAD_DIM / 8;  ///< n-tiles of the output
constexpr int kStepTiles = STEP_N / 8;      ///< n-tiles of the scores of one step
constexpr int kShares = WARPS_KV;  ///< number of parts of a tile's keys
/// The number of chunks of columns of O that a warp merges and writes.
constexpr int kShareChunks = kRowChunks / WARPS_KV;

// Shared memory: Q (unless in registers); the rings of K and V; the results that warps exchange at
// the end, in place of the rings unless producers already load the next work item; row statistics;
// mbarriers; a word for broadcasts. `dynamic_shared_bytes` in problem.json is kSharedBytes.
constexpr int kRowBytes = HEAD_DIM + (SWIZZLE == SWIZZLE_PAD ? kChunkBytes : 0);
constexpr int kSlotBytes = TILE_N * kRowBytes;
constexpr int kKRing = kQInShared ? kTileM * kRowBytes : 0;
constexpr int kVRing = kKRing + STAGES_K * kSlotBytes;
constexpr int kRingEnd = kVRing + STAGES_V * kSlotBytes;
constexpr int kExchangeBytes = WARPS_KV > 1 ? WARPS_KV* kTileM* HEAD_DIM * 4 : 0;
constexpr bool kExchangeApart = PRODUCER_WARPS > 0 && kPersistent;
constexpr int kExchange = kExchangeApart ? kRingEnd : kKRing;
constexpr int kStats = max_of(kRingEnd, kExchange + kExchangeBytes);
constexpr int kStatsBytes = WARPS_KV > 1 ? WARPS_KV* kTileM * 8 : 0;  ///< each row's maximum, sum
constexpr int kBarriers = kStats + kStatsBytes;
constexpr int kBarrierBytes = PRODUCER_WARPS > 0 ? 2 * 8 * (STAGES_K + STAGES_V) : 0;
constexpr int kBroadcast = kBarriers + kBarrierBytes;
constexpr int kSharedBytes = kBroadcast + 16;

static_assert(kThreads <= 1024, "a CTA has at most 1024 threads");
static_assert(TILE_N * kRowChunks >= kCopiers || kCopiers % (TILE_N * kRowChunks) == 0,
              "threads that copy must get equal numbers of a tile's chunks");
static_assert(kCopiers % kRowChunks == 0, "a thread must copy one column of chunks only");

/// The swizzle of a row's chunks, 0 unless SWIZZLE is xor. It puts the two rows that eight lanes of
/// a 16-byte load touch, and the eight rows of an ldmatrix matrix, in different banks.
__device__ __forceinline__ int swizzle_of(int row) {
  if constexpr (SWIZZLE != SWIZZLE_XOR) return 0;
  return HEAD_DIM == 64 ? (row >> 1) & 3 : ((row >> 1) & 3) | ((row & 1) << 2);
}
