// Copies tiles of Q, K and V from global to shared memory, and converts them from e4m3 to f16. Rows
// from seq_len on are filled with zeros, because memory after the tensors may be NaN, and 0 * NaN
// would reach the output through V.
#pragma once

#include "common/async_copy.cuh"
#include "common/convert.cuh"
#include "common/sync.cuh"
#include "wmma_config.cuh"

/// A barrier of the warps that compute.
__device__ __forceinline__ void sync_consumers() {
  if constexpr (PRODUCER_WARPS > 0) {
    ptx::named_sync(kConsumerBarrier, kConsumers);
  } else {
    ptx::sync_cta();
  }
}

/// The position of chunk `chunk` of row `row` in a slot of K. The xor spreads the eight rows that
/// eight lanes read at once over all banks.
__device__ __forceinline__ int k_slot_offset(int row, int chunk) {
  if constexpr (SWIZZLE == SWIZZLE_XOR) {
    chunk ^= HEAD_DIM == 64 ? (row >> 1) & 3 : row & 7;
  }
  return row * kKRowBytes + chunk * kChunkBytes;
}

__device__ __forceinline__ u8* k_slot(u8* pool, int slot) {
  return pool + kTileOffset + slot * kKSlotBytes;
}
__device__ __forceinline__ u8* v_slot(u8* pool, int slot) {
  return pool + kVRingOffset + slot * kVSlotBytes;
}

/// Calls body(row, chunk) for those of the chunks of kTileRows rows that belong to `thread`, which
/// is 0 … kSharers - 1. The number of iterations is a compile-time constant, so that no remainder
/// loop is needed.
template <int kTileRows, int kSharers, class Body>
__device__ __forceinline__ void for_each_chunk(int thread, Body body) {
  static_assert(kSharers % kRowChunks == 0, "a thread must get the same chunk of all its rows");
  constexpr int kRowsPerTurn = kSharers / kRowChunks;
  constexpr int kTurns = ceil_div(kTileRows, kRowsPerTurn);
  const int first = thread / kRowChunks;
  const int chunk = thread % kRowChunks;
#pragma unroll 2
  for (int turn = 0; turn < kTurns; ++turn) {
    const int row = first + turn * kRowsPerTurn;
    if (kTileRows % kRowsPerTurn == 0 || row < kTileRows) body(row, chunk);
  }
}

/// Starts copying tile `tile` to slot tile % STAGES; `copier` is 0 … kCopiers - 1.
__device__ __forceinline__ void copy_tile_async(u8* pool, const Head& head, int tile, int copier) {
  u8* k_bytes = k_slot(pool, tile % max_of(STAGES, 1));
  u8* v_bytes = v_slot(pool, tile % max_of(STAGES, 1));
  for_each_chunk<TILE_N, kCopiers>(copier, [&](int row, int chunk) {
    const int key = tile * TILE_N + row;
    const bool valid = key < head.seq_len;
    const int source = (valid ? key : 0) * HEAD_DIM + chunk * kChunkBytes;
    ptx::copy_async(k_bytes + k_slot_offset(row, chunk), head.k + source, valid);
    ptx::copy_async(v_bytes + row * HEAD_DIM + chunk * kChunkBytes, head.v + source, valid);
  });
}

/// Converts 16 e4m3 to f16 at `halves`.
__device__ __forceinline__ void store_as_f16(u16* halves, const Chunk& bytes) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const HalfChunk low = f16x4_from_e4m3x4(bytes.word[2 * i]);
    const HalfChunk high = f16x4_from_e4m3x4(bytes.word[2 * i + 1]);
    reinterpret_cast<Chunk*>(halves)[i] = {{low.word[0], low.word[1], high.word[0], high.word[1]}};
  }
}

__device__ __forceinline__ Chunk load_chunk(const u8* source, int row, int chunk, int rows) {
  if (row >= rows) return Chunk{};
  return *reinterpret_cast<const Chunk*>(source + row * HEAD_DIM + chunk * kChunkBytes);
}

/// With STAGES 0, loads a tile through registers, and stores it in the form that its readers need.
__device__ __forceinline__ void copy_tile_plain(u8* pool, const Head& head, int tile, int thread) {
  for_each_chunk<TILE_N, kConsumers>(thread, [&](int row, int chunk) {
    const Chunk k = load_chunk(head.k, tile * TILE_N + row, chunk, head.seq_len);
    const Chunk v = load_chunk(head.v, tile * TILE_N + row, chunk, head.seq_len);
    if constexpr (QK_WMMA) {
      store_as_f16(reinterpret_cast<u16*>(pool + kKHalfOffset) + row * kKHalfStride + 16 * chunk,
                   k);
    } else {
      *reinterpret_cast<Chunk*>(k_slot(pool, 0) + k_slot_offset(row, chunk)) = k;
    }
    if constexpr (PV_WMMA) {
      store_as_f16(reinterpret_cast<u16*>(pool + kVHalfOffset) + row * kVHalfStride + 16 * chunk,
                   v);
    } else {
      *reinterpret_cast<Chunk*>(v_slot(pool, 0) + row * HEAD_DIM + chunk * kChunkBytes) = v;
    }
  });
}

/// Converts the operands that wmma reads from the slot to f16 tiles.
__device__ __forceinline__ void dequantise_tile(u8* pool, int slot, int thread) {
  for_each_chunk<TILE_N, kConsumers>(thread, [&](int row, int chunk) {
    if constexpr (QK_WMMA) {
      const u8* k = k_slot(pool, slot) + k_slot_offset(row, chunk);
      store_as_f16(reinterpret_cast<u16*>(pool + kKHalfOffset) + row * kKHalfStride + 16 * chunk,
                   *reinterpret_cast<const Chunk*>(k));
    }
    if constexpr (PV_WMMA) {
      const u8* v = v_slot(pool, slot) + row * HEAD_DIM + chunk * kChunkBytes;
      store_as_f16(reinterpret_cast<u16*>(pool + kVHalfOffset) + row * kVHalfStride + 16 * chunk,
                   *reinterpret_cast<const Chunk*>(v));
    }
  });
}

/// Loads the tile of queries, as f16 for wmma or as f32.
__device__ __forceinline__ void load_queries(u8* pool, const Head& head, int first, int thread) {
  for_each_chunk<TILE_M, kConsumers>(thread, [&](int row, int chunk) {
    const Chunk bytes = load_chunk(head.q, first + row, chunk, head.seq_len);
    if constexpr (QK_WMMA) {
      store_as_f16(reinterpret_cast<u16*>(pool + kQOffset) + row * kQStride + 16 * chunk, bytes);
    } else {
      float* q = reinterpret_cast<float*>(pool + kQOffset) + row * kQStride + 16 * chunk;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const HalfChunk halves = f16x4_from_e4m3x4(bytes.word[w]);
        reinterpret_cast<Float4*>(q)[w] = {{low_half(halves.word[0]), high_half(halves.word[0]),
                                            low_half(halves.word[1]), high_half(halves.word[1])}};
      }
    }
  });
}
