// The macros of wgmma.cu: allowed combinations, derived constants, and the layout of shared memory.
// The search spaces repeat the rules by their values and constraints, with reasons.
#pragma once

#include "common/types.cuh"

#if !defined(HEAD_DIM) || !defined(CAUSAL) || !defined(GROUPS_M) || !defined(GROUPS_KV) ||     \
    !defined(TILE_N) || !defined(STEP_N) || !defined(STAGES_K) || !defined(STAGES_V) ||         \
    !defined(PRODUCER_GROUP) ||                                                                 \
    !defined(SPLIT_KV) || !defined(EXP) || !defined(LAZY_RESCALE) || !defined(ROW_SUM) ||      \
    !defined(OVERLAP) || !defined(PV_MODE) || !defined(TURNS) || !defined(PERSISTENT_CTA) ||    \
    !defined(PDL) || !defined(MIN_CTAS)
#error a macro of the template is not defined: see search_spaces/sdpa_fp8_wgmma_h200.json for the list
#endif
#if HEAD_DIM != 64 && HEAD_DIM != 128
#error HEAD_DIM is 64 or 128
#endif
#if GROUPS_M < 1 || GROUPS_M > 4 || GROUPS_M * GROUPS_KV > 4
#error GROUPS_M is 1 to 4, and at most 4 warpgroups compute
#endif
#if GROUPS_KV != 1 && GROUPS_KV != 2 && GROUPS_KV != 4
#error GROUPS_KV is 1, 2 or 4: the merge gives each of these warpgroups an equal share of the columns
#endif
#if STEP_N != 32 && STEP_N != 64 && STEP_N != 128 && STEP_N != 256
#error STEP_N is 32, 64, 128 or 256: the n of a wgmma
#endif
#if TILE_N % (STEP_N * GROUPS_KV) != 0 || TILE_N > 4 * STEP_N * GROUPS_KV
#error TILE_N is one to four steps of STEP_N keys for each of the GROUPS_KV shares: they are unrolled
#endif
#if STAGES_K < 1 || STAGES_K > 4 || STAGES_V < 1 || STAGES_V > STAGES_K
#error STAGES: 1 <= STAGES_V <= STAGES_K <= 4, since K is needed first
#endif
#if STAGES_K == 1 && TILE_N != STEP_N * GROUPS_KV
#error STAGES_K 1 needs one step a tile: its slot is refilled as soon as the first scores are there
#endif
#if PRODUCER_GROUP < 0 || PRODUCER_GROUP > 2
#error PRODUCER_GROUP is 0, 1 or 2
#endif
#if !PRODUCER_GROUP && TILE_N * HEAD_DIM % (2048 * GROUPS_M * GROUPS_KV) != 0 && \
    2048 * GROUPS_M * GROUPS_KV % (TILE_N * HEAD_DIM) != 0
#error without PRODUCER_GROUP, the threads of a share copy its chunks in equal parts
#endif
#if PRODUCER_GROUP && STAGES_K < 2
#error PRODUCER_GROUP needs STAGES_K >= 2: with one slot producers and consumers only take turns
#endif
#if !PRODUCER_GROUP && STAGES_V != 1 + (OVERLAP != OVERLAP_NONE)
#error STAGES_V is 1 without PRODUCER_GROUP, 2 with OVERLAP: V is unpacked while the scores are computed
#endif
#if SPLIT_KV != 1 && SPLIT_KV != 2 && SPLIT_KV != 4
#error SPLIT_KV is 1, 2 or 4
#endif
#if LAZY_RESCALE < 0 || LAZY_RESCALE > 15
#error LAZY_RESCALE is 0 to 15: P reaches 2^LAZY_RESCALE, f16 ends at 65504
#endif
#if OVERLAP != OVERLAP_NONE && STAGES_V < 2
#error OVERLAP needs STAGES_V >= 2: V of a step is read while the next is unpacked
#endif
#if OVERLAP != OVERLAP_NONE && !PRODUCER_GROUP && STAGES_K < 2
#error OVERLAP needs STAGES_K >= 2: K of the next tile must be there
#endif
#if OVERLAP != OVERLAP_NONE && !PRODUCER_GROUP && TILE_N < 32 * GROUPS_M * GROUPS_KV
#error OVERLAP without PRODUCER_GROUP needs work for every copier: no warps may diverge while P V is in flight
#endif
#if PV_MODE == PV_MODE_FP8 && LAZY_RESCALE > 5
#error LAZY_RESCALE is at most 5 with PV_MODE fp8: small P would become 0
#endif
#if PV_MODE == PV_MODE_FP8 && OVERLAP != OVERLAP_NONE && !PRODUCER_GROUP && \
    TILE_N % (64 * GROUPS_M * GROUPS_KV) != 0
#error PV_MODE fp8 and OVERLAP without PRODUCER_GROUP need equal work for every warp that transposes
#endif
#if TURNS && (GROUPS_M * GROUPS_KV < 2 || OVERLAP == OVERLAP_NONE)
#error TURNS needs two warpgroups and OVERLAP: one computes exponentials during the products of the other
#endif
#if TURNS && !PRODUCER_GROUP && GROUPS_M > 1
#error TURNS needs PRODUCER_GROUP or GROUPS_M 1: warpgroups that copy the same keys wait for each other
#endif
#if OVERLAP == OVERLAP_OPTIMISTIC && \
    (LAZY_RESCALE == 0 || EXP == EXP_POLY2 || EXP == EXP_POLY3 || EXP == EXP_MIXED)
#error OVERLAP optimistic needs LAZY_RESCALE, and EXP mufu, linear or alternate: P may grow beyond 1, or to infinity, before the maxima are raised
#endif
#if (EXP == EXP_LINEAR || EXP == EXP_ALTERNATE) && (PV_MODE != PV_MODE_FP8 || ROW_SUM != ROW_SUM_MMA)
#error EXP linear and alternate need PV_MODE fp8 and ROW_SUM mma: they compute bytes of e4m3
#endif
#if OVERLAP == OVERLAP_OPTIMISTIC && PV_MODE == PV_MODE_FP8 && ROW_SUM == ROW_SUM_MMA && \
    TILE_N > 2 * STEP_N * GROUPS_KV
#error OVERLAP optimistic with ROW_SUM mma and PV_MODE fp8 needs at most two steps a tile: with four, the compiler moves sums after the fence of a product
#endif
#if PERSISTENT_CTA && (!PRODUCER_GROUP || GROUPS_KV > 1 || SPLIT_KV > 1)
#error PERSISTENT_CTA needs PRODUCER_GROUP, GROUPS_KV 1 and SPLIT_KV 1: producers run ahead into the next work item
#endif

constexpr bool kCausal = CAUSAL != 0;
constexpr bool kProduced = PRODUCER_GROUP != 0;
constexpr bool kOverlap = OVERLAP != OVERLAP_NONE;
/// Whether a branch skips the rescaling that LAZY_RESCALE avoids; not while P V is in flight.
constexpr bool kBranches = !kOverlap;
constexpr bool kPvFp8 = PV_MODE == PV_MODE_FP8;
/// Whether row sums are P times ones: in f16, columns 64 to 71 of B, where V is if D is 128.
#define SUM_BY_MMA (ROW_SUM == ROW_SUM_MMA && (HEAD_DIM == 64 || PV_MODE == PV_MODE_FP8))
constexpr bool kSumByMma = SUM_BY_MMA;
/// wgmma keeps 13 bits in sums of e4m3 products. Sums for O stay small if V has both signs, but a
/// row sum of thousands of keys would lose addends, so the sum of each step is added in f32. Unless
/// OVERLAP is OPTIMISTIC, this addition would make ptxas serialise the products (note C7511), so
/// kernels for long sequences need ROW_SUM add.
constexpr bool kDrains = kSumByMma && kPvFp8 && OVERLAP == OVERLAP_OPTIMISTIC;
// Work split: a warpgroup processes 64 rows and kKeys keys of each tile, in kSteps steps; a warp
// processes 16 of the rows.
constexpr int kGroup = 128;
constexpr int kTileM = 64 * GROUPS_M;
constexpr int kBlocks = 1;
constexpr int kKeys = TILE_N / GROUPS_KV;
constexpr int kSteps = kKeys / STEP_N;
constexpr int kConsumerGroups = GROUPS_M * GROUPS_KV;
constexpr int kConsumers = kGroup * kConsumerGroups;
constexpr int kThreads = kConsumers + kGroup * PRODUCER_GROUP;
/// Number of threads that copy the same keys: the producers, or the consumers of these keys.
constexpr int kCopiers = kGroup * (kProduced ? PRODUCER_GROUP : GROUPS_M);
constexpr int kCopiedKeys = kProduced ? TILE_N : kKeys;

// Registers per thread: equal at launch, then the producers give registers to the consumers.
constexpr int kLaunchRegisters = min_of(248, 65536 / (MIN_CTAS * kThreads) / 8 * 8);
constexpr int kAllRegisters = kLaunchRegisters * (kConsumerGroups + PRODUCER_GROUP);
/// Producers that transpose V need more registers.
constexpr int kLeastProducerRegisters = !kPvFp8 ? 32 : kLaunchRegisters >= 128 ? 56 : 40;
constexpr int kConsumerRegisters =
    min_of(240, (kAllRegisters - kLeastProducerRegisters * PRODUCER_GROUP) / kConsumerGroups / 8 * 8);
constexpr int kProducerRegisters =
    min_of(min_of(kLaunchRegisters, 128), (kAllRegisters - kConsumerRegisters * kConsumerGroups) /
                                              max_of(PRODUCER_GROUP, 1) / 8 * 8);

// Chunks of 16 bytes in a row of D bytes, and other divisions of rows and tiles.
constexpr int kRowBytes = HEAD_DIM;
constexpr int kRowChunks = HEAD_DIM / kChunkBytes;
constexpr int kColumnTiles = HEAD_DIM / 8;  ///< n-tiles of the output
constexpr int kStepTiles = STEP_N / 8;      ///< n-tiles of the scores of one step
constexpr int kShares = GROUPS_KV;          ///< number of parts of a tile's keys
constexpr int kShareChunks = kRowChunks / kShares;

/// The assembler rejects a wgmma unless its operands and 26 more registers are available at launch.
constexpr int kOperandRegisters = max_of(STEP_N / 2, HEAD_DIM / 2 + 4 + 4 * kSumByMma);
static_assert(kLaunchRegisters >= kOperandRegisters + 26,
              "a wgmma of STEP_N keys or HEAD_DIM columns needs more registers than a thread has");

// Shared memory: Q; the ring of K; bytes of V as they arrive; the ring of V as wgmma reads it;
// ones, whose products with P are the row sums; the results that warps exchange at the end, which
// overlap the rings; row statistics; mbarriers; a word for broadcasts. `dynamic_shared_bytes` in
// problem.json is kSharedBytes.
//
// wgmma reads V as f16, in panels of 64 columns with a row for each key, or as e4m3, transposed, in
// panels of kPanelKeys keys with a row for each column, and eight rows of ones.
constexpr int kSlotBytes = TILE_N * kRowBytes;
constexpr int kPanelKeys = min_of(128, TILE_N);
constexpr int kPanelBytes = kPvFp8 ? (HEAD_DIM + 8 * kSumByMma) * kPanelKeys : TILE_N * 128;
constexpr int kVSlotBytes = kPvFp8 ? TILE_N / kPanelKeys * kPanelBytes : 2 * kSlotBytes;
constexpr int kKRing = kTileM * kRowBytes;
constexpr int kVBytes = kKRing + STAGES_K * kSlotBytes;
constexpr int kVRing = kVBytes + STAGES_K * kSlotBytes;
constexpr int kOnes = kVRing + (kPvFp8 ? HEAD_DIM * kPanelKeys : STAGES_V * kVSlotBytes);
constexpr int kOnesBytes = kSumByMma ? 16 * 128 : 0;
constexpr int kRingEnd = kPvFp8 ? kVRing + STAGES_V * kVSlotBytes : kOnes + kOnesBytes;
constexpr int kExchange = kKRing;
constexpr int kExchangeBytes = kShares > 1 ? kShares* kTileM* HEAD_DIM * 4 : 0;
constexpr int kStats = max_of(kRingEnd, kExchange + kExchangeBytes);
constexpr int kStatsBytes = kShares > 1 ? kShares* kTileM * 8 : 0;  ///< each row's maximum, sum
constexpr int kBarriers = kStats + kStatsBytes;
constexpr int kBarrierBytes = kProduced ? 2 * 8 * (STAGES_K + STAGES_V) : 0;
constexpr int kBroadcast = kBarriers + kBarrierBytes;
constexpr int kSharedBytes = kBroadcast + 16;

static_assert(kCopiedKeys * kRowChunks % kCopiers == 0 || kCopiers % (kCopiedKeys * kRowChunks) == 0,
              "threads that copy must get equal numbers of a tile's chunks");
static_assert(kTileM * kRowChunks % kConsumers == 0 || kConsumers % (kTileM * kRowChunks) == 0,
              "threads that compute must get equal numbers of chunks of Q");

/// The swizzle of a row's chunks, as wgmma expects it for rows of 64 and of 128 bytes.
__device__ __forceinline__ int swizzle_of(int row) {
  return HEAD_DIM == 64 ? (row >> 1) & 3 : row & 7;
}
