// The kernel's arguments, and the parts of the work of a CTA and of a thread. Include
// mma_config.cuh or wgmma_config.cuh before this file: they define kTileM and kCausal.
#pragma once

#include "common/types.cuh"

/// The kernel's arguments. Q, O: contiguous (B, H, Lq, D); K, V: contiguous (B, Hkv, Lkv, D).
struct Problem {
  const u8* q;
  const u8* k;
  const u8* v;
  u16* o;
  float* lse;  ///< natural logarithm of the softmax's denominator, (B, H, Lq); or null
  const float* q_scale;
  const float* k_scale;
  const float* v_scale;
  float softmax_scale;
  int q_len;
  int kv_len;
  int batch_heads;     ///< B * H
  int heads_per_kv;    ///< H / Hkv
  int scale_per_head;  ///< 1: descales are (B, H) and (B, Hkv); 0: one per tensor
  u32* queue;          ///< work queue (2 words), then one ticket per tile of queries of a head
  float* partials;
};

/// A work item: kTileM queries of one (batch, head), and a part of the keys.
struct Item {
  int head;
  int kv_head;
  int first_row;
  int split;
  int tickets;     ///< index of the ticket that counts the finished parts of these queries
  int first_tile;  ///< tiles of keys first_tile … first_tile + tiles - 1, from the last down
  int tiles;
};

/// This thread's part of the work. A warp is 8 quads of lanes.
struct Role {
  int quad;   ///< 0 … 7: row of a fragment
  int lane4;  ///< 0 … 3: index in the quad
  int lane;
  int share;  ///< index of the warp's share of the keys
  int row;    ///< first row of the warp in the tile of queries
};

struct Scales {
  float score;  ///< factor from a raw dot product of e4m3 values to an exponent of 2
  float value;  ///< descale of V
};

/// Descale factors of one (batch, head).
struct Descales {
  float q;
  float k;
  float v;
};

__device__ __forceinline__ Descales load_descales(const Problem& problem, const Item& item) {
  const int head = item.head * problem.scale_per_head;
  const int kv_head = item.kv_head * problem.scale_per_head;
  return {problem.q_scale[head], problem.k_scale[kv_head], problem.v_scale[kv_head]};
}

__device__ __forceinline__ Scales scales_of(const Problem& problem, const Descales& descales) {
  const float kLog2E = 1.4426950408889634f;
  return {problem.softmax_scale * kLog2E * descales.q * descales.k, descales.v};
}

/// `line`: SPLIT_KV times the number of the tile of queries, plus the part of the keys. If CAUSAL,
/// tiles are numbered from the last, which has most keys, so that the longest work starts first.
__device__ __forceinline__ Item item_of(const Problem& problem, int head, int line) {
  const int row_tiles = ceil_div(problem.q_len, kTileM);
  const int row_tile = kCausal ? row_tiles - 1 - line / SPLIT_KV : line / SPLIT_KV;
  const int split = line % SPLIT_KV;
  const int first_row = row_tile * kTileM;
  const int keys = kCausal ? min(problem.kv_len, first_row + kTileM) : problem.kv_len;
  const int tiles = ceil_div(keys, TILE_N);
  const int share = ceil_div(tiles, SPLIT_KV);
  const int first_tile = min(split * share, tiles);
  const int kv_head = problem.heads_per_kv == 1 ? head : head / problem.heads_per_kv;
  return {head,
          kv_head,
          first_row,
          split,
          head * row_tiles + row_tile,
          first_tile,
          min(share, tiles - first_tile)};
}
