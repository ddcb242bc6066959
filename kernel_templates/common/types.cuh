// Storage types and integer functions, without toolkit headers, so that the compiler needs no
// include path.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

/// The unit of one 128-bit load, store or cp.async.
struct alignas(16) Chunk {
  u32 word[4];
};
struct alignas(8) HalfChunk {
  u32 word[2];
};
struct alignas(16) Float4 {
  float value[4];
};

constexpr int kChunkBytes = 16;
constexpr int kWarp = 32;

__device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
__device__ constexpr int align_up(int a, int multiple) { return ceil_div(a, multiple) * multiple; }
__device__ constexpr int max_of(int a, int b) { return a > b ? a : b; }
__device__ constexpr int min_of(int a, int b) { return a < b ? a : b; }
