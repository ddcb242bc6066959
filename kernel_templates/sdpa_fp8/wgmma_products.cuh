// The two products of a step: scores = Q K^T and O += P V.
#pragma once

#include "online_softmax.cuh"
#include "wgmma_tiles.cuh"

/// The keys that a warpgroup processes in one step.
struct Place {
    int tile;  ///< index of the tile of K and V
  int key;   ///< first key, counted from the tile's first key
};

__device__ __forceinline__ Place place_of(int tile, int step, const Role& role) {
  return {tile, role.share * kKeys + step * STEP_N};
}

/// Starts step 1 of wgmma.cu: scores = Q K^T.
__device__ __forceinline__ void start_scores(Scores& scores, const Tiles& tiles, const Place& at,
                                             const Role& role) {
  constexpr u32 kLayout = ptx::tile_layout(
      8 * kRowBytes, HEAD_DIM == 64 ? ptx::Swizzle::k64 : ptx::Swizzle::k128);
  const u32 q = ptx::tile_place(tiles.shared + role.row / 64 * 64 * kRowBytes, 16);
  const u32 k = ptx::tile_place(
      tiles.shared + kKRing + tiles.number(at.tile) % STAGES_K * kSlotBytes + at.key * kRowBytes, 16);
  ptx::start_products();
  ptx::multiply_e4m3<kLayout, false>(scores.at[0], q, k);
#pragma unroll
  for (int column = 32; column < HEAD_DIM; column += 32) {
    ptx::multiply_e4m3<kLayout, true>(scores.at[0], q + column / 16, k + column / 16);
  }
  ptx::commit_products();
}

/// Starts O += P V with e4m3: 32 keys at a time.
__device__ __forceinline__ void start_values_e4m3(Accumulated& state, const Probabilities& p,
                                                  u32 slot, int key) {
  constexpr ptx::Swizzle kSwizzle = kPanelKeys == 128  ? ptx::Swizzle::k128
                                    : kPanelKeys == 64 ? ptx::Swizzle::k64
                                                       : ptx::Swizzle::k32;
  constexpr u32 kLayout = ptx::tile_layout(8 * kPanelKeys, kSwizzle);
  const u32 v =
      ptx::tile_place(slot + key / kPanelKeys * kPanelBytes + key % kPanelKeys, kChunkBytes);
#pragma unroll
  for (int i = 0; i < STEP_N / 32; ++i) {
    const int ahead = i * 32 / kPanelKeys * kPanelBytes + i * 32 % kPanelKeys;
#if SUM_BY_MMA
    ptx::multiply_e4m3<kLayout>(state.output[0], kDrains ? state.step_sum : state.sum[0],
                                operand_of(p, 0, i), v + ahead / kChunkBytes);
#else
    ptx::multiply_e4m3<kLayout>(state.output[0], operand_of(p, 0, i), v + ahead / kChunkBytes);
#endif
  }
}

/// Starts O += P V with f16: 16 keys at a time.
__device__ __forceinline__ void start_values_f16(Accumulated& state, const Probabilities& p,
                                                 const Tiles& tiles, u32 slot, int key) {
  constexpr u32 kLayout = ptx::tile_layout(8 * 128, ptx::Swizzle::k128);
  constexpr u32 kForward = 16 * 128 / 16;
  const u32 v = slot + key * 128;
#if SUM_BY_MMA && HEAD_DIM == 64
  // The second panel of B's columns is a block of ones, the same for all keys, so its distance from
  // the first panel (V) decreases as the address in V advances.
  const u32 place = ptx::tile_place(v, tiles.shared + kOnes - v);
#pragma unroll
  for (int i = 0; i < STEP_N / 16; ++i) {
    ptx::multiply_f16<kLayout>(state.output[0], state.sum[0], operand_of(p, 0, i),
                               place + i * (kForward - (kForward << 16)));
  }
#else
  const u32 place = ptx::tile_place(v, kPanelBytes);
#pragma unroll
  for (int i = 0; i < STEP_N / 16; ++i) {
    ptx::multiply_f16<kLayout>(state.output[0], operand_of(p, 0, i), place + i * kForward);
  }
#endif
}

/// Starts step 5 of wgmma.cu: O += P V.
__device__ __forceinline__ void start_values(Accumulated& state, const Probabilities& p,
                                             const Tiles& tiles, const Place& at) {
  const u32 slot = tiles.shared + kVRing + tiles.number(at.tile) % STAGES_V * kVSlotBytes;
  ptx::start_products();
  if constexpr (kPvFp8) {
    start_values_e4m3(state, p, slot, at.key);
  } else {
    start_values_f16(state, p, tiles, slot, at.key);
  }
  ptx::commit_products();
}

/// Waits for P V.
__device__ __forceinline__ void wait_values(Accumulated& state) {
  ptx::wait_products<0>(state.output[0]);
  if constexpr (!kDrains) {
    ptx::keep_here(state.sum[0]);
    return;
  }
  ptx::keep_here(state.step_sum);
  state.sum[0][0] += state.step_sum[0];
  state.sum[0][2] += state.step_sum[2];
#pragma unroll
  for (float& sum : state.step_sum) sum = 0.0f;
  ptx::keep_here(state.step_sum);  // the zeros are written before the next fence
}
