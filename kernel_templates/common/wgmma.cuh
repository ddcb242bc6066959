// wgmma (sm_90a): asynchronous products of a warpgroup of four warps. B and optionally A are read
// directly from shared memory.
//
// Warp w of the warpgroup has rows 16 w … 16 w + 15 of a product's 64 rows. Fragments have the
// layout of mma.m16n8k16 and .m16n8k32 (PTX ISA, register fragments of wgmma.mma_async): for each
// n-tile of 8 columns, lane 4 g + t has {row g: columns 2t, 2t+1; row g + 8: columns 2t, 2t+1}.
//
// From start_products() to the corresponding wait_products(), the registers of accumulators and
// operands must not be touched.
#pragma once

#include "common/mma.cuh"
#include "common/types.cuh"

namespace ptx {

/// Swizzle of rows of 32, 64 or 128 bytes in shared memory, in units of 16 bytes: chunk ^ (row / 4
/// % 2), chunk ^ (row / 2 % 4) or chunk ^ (row % 8). Tiles are aligned to eight rows.
enum class Swizzle : u32 { k128 = 1, k64 = 2, k32 = 3 };

/// The lower word of a tile's matrix descriptor: the address and `panel_stride`, in bytes. If the
/// columns of a row are adjacent (f16 V), `panel_stride` is the distance of panels of 64 columns;
/// otherwise it has no effect. Adding 1 to this word moves the start of the tile by 16 bytes.
__device__ __forceinline__ u32 tile_place(u32 shared, u32 panel_stride) {
  return (shared & 0x3FFFF) >> 4 | panel_stride >> 4 << 16;
}
/// The upper word of the descriptor: the distance `stride` of groups of eight rows, given in bytes,
/// and the swizzle.
__device__ constexpr u32 tile_layout(u32 stride, Swizzle swizzle) {
  return stride >> 4 | static_cast<u32>(swizzle) << 30;
}

/// Call this function before a product whose registers other instructions have written.
__device__ __forceinline__ void start_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Changes the number of registers of the warpgroup to `kCount` per thread, a multiple of 8 from 24
/// to 256. A warpgroup that takes more registers waits until others have released theirs.
template <int kCount, bool kMore>
__device__ __forceinline__ void set_registers() {
  if constexpr (kMore) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
  }
}

/// Makes this thread's earlier writes to shared memory visible to wgmma after the next barrier.
__device__ __forceinline__ void fence_for_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Keeps the compiler from moving a use of these values across this call.
__device__ __forceinline__ void keep_here(float (&value)[4]) {
  asm volatile("" : "+f"(value[0]), "+f"(value[1]), "+f"(value[2]), "+f"(value[3])::"memory");
}
template <int kTiles>
__device__ __forceinline__ void keep_here(float (&values)[kTiles][4]) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) keep_here(values[n]);
}

/// Waits until all groups of products, except the latest `kPending`, are complete. The compiler
/// keeps later uses of `sum` after the wait.
template <int kPending, int kTiles>
__device__ __forceinline__ void wait_products(float (&sum)[kTiles][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
  keep_here(sum);
}

// The asm operands of an accumulator of 8 n columns, n = 4, 8, 16 or 32, and their asm names.
#define WGMMA_TILE(s, n) "+f"(s[n][0]), "+f"(s[n][1]), "+f"(s[n][2]), "+f"(s[n][3])
#define WGMMA_LAST(s) "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
#define WGMMA_4(s, n) \
  WGMMA_TILE(s, n), WGMMA_TILE(s, n + 1), WGMMA_TILE(s, n + 2), WGMMA_TILE(s, n + 3)
#define WGMMA_8(s, n) WGMMA_4(s, n), WGMMA_4(s, n + 4)
#define WGMMA_16(s, n) WGMMA_8(s, n), WGMMA_8(s, n + 8)
#define WGMMA_32(s, n) WGMMA_16(s, n), WGMMA_16(s, n + 16)
#define WGMMA_NAMES_4 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_8 WGMMA_NAMES_4 ", " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_16 WGMMA_NAMES_8 ", " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_NAMES_32 WGMMA_NAMES_16 ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/// A product with both operands in shared memory. A, B, LAYOUT: asm names (such as %16) of the two
/// lower words and the upper word of the descriptors; ACCUMULATE: of the flag to add to the sum.
#define WGMMA_E4M3(TILES, COLUMNS, A, B, LAYOUT, ACCUMULATE)                                   \
  asm volatile("{ .reg .pred p; .reg .b64 a, b; setp.ne.b32 p, " ACCUMULATE ", 0; "             \
               "mov.b64 a, {" A ", " LAYOUT "}; mov.b64 b, {" B ", " LAYOUT "}; "               \
               "wgmma.mma_async.sync.aligned.m64n" COLUMNS "k32.f32.e4m3.e4m3 {"                \
               WGMMA_NAMES_##TILES "}, a, b, p, 1, 1; }"                                        \
               : WGMMA_##TILES(sum, 0)                                                          \
               : "r"(a), "r"(b), "n"(kLayout), "n"(kAccumulate ? 1 : 0)                         \
               : "memory")

/// A product with A in registers. TYPE: k and types in wgmma's name; FLAGS: wgmma's last operands;
/// A, B: asm names of the words of A, and of B's descriptor.
#define WGMMA_A_IN_REGISTERS(TILES, COLUMNS, TYPE, FLAGS, A, B)                                  \
  asm volatile("{ .reg .b64 b; mov.b64 b, {" B "}; "                                            \
               "wgmma.mma_async.sync.aligned.m64n" COLUMNS TYPE " {" WGMMA_NAMES_##TILES        \
               "}, {" A "}, b, " FLAGS "; }"                                                    \
               : WGMMA_##TILES(sum, 0)                                                          \
               : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b),        \
                 "n"(kLayout)                                                                   \
               : "memory")

/// Like WGMMA_A_IN_REGISTERS, with eight more columns, whose asm names are LAST.
#define WGMMA_WITH_LAST(TILES, COLUMNS, TYPE, FLAGS, LAST, A, B)                                 \
  asm volatile("{ .reg .b64 b; mov.b64 b, {" B "}; "                                            \
               "wgmma.mma_async.sync.aligned.m64n" COLUMNS TYPE " {" WGMMA_NAMES_##TILES        \
               ", " LAST "}, {" A "}, b, " FLAGS "; }"                                          \
               : WGMMA_##TILES(sum, 0), WGMMA_LAST(last)                                        \
               : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b),        \
                 "n"(kLayout)                                                                   \
               : "memory")

/// sum = a b, or sum += a b: a is 64 rows by 32 e4m3, b is N keys by 32 e4m3; both are in shared
/// memory, with rows along k and the same layout.
template <u32 kLayout, bool kAccumulate, int kTiles>
__device__ __forceinline__ void multiply_e4m3(float (&sum)[kTiles][4], u32 a, u32 b) {
  if constexpr (kTiles == 4) {
    WGMMA_E4M3(4, "32", "%16", "%17", "%18", "%19");
  } else if constexpr (kTiles == 8) {
    WGMMA_E4M3(8, "64", "%32", "%33", "%34", "%35");
  } else if constexpr (kTiles == 16) {
    WGMMA_E4M3(16, "128", "%64", "%65", "%66", "%67");
  } else {
    static_assert(kTiles == 32, "32, 64, 128 or 256 keys");
    WGMMA_E4M3(32, "256", "%128", "%129", "%130", "%131");
  }
}

/// sum += a b: a is 64 rows by 32 e4m3 in registers, b is N columns by 32 e4m3 in shared memory,
/// with rows along k.
template <u32 kLayout, int kTiles>
__device__ __forceinline__ void multiply_e4m3(float (&sum)[kTiles][4], const Fragment& a, u32 b) {
  if constexpr (kTiles == 8) {
    WGMMA_A_IN_REGISTERS(8, "64", "k32.f32.e4m3.e4m3", "1, 1, 1", "%32, %33, %34, %35",
                         "%36, %37");
  } else {
    static_assert(kTiles == 16, "64 or 128 columns");
    WGMMA_A_IN_REGISTERS(16, "128", "k32.f32.e4m3.e4m3", "1, 1, 1", "%64, %65, %66, %67",
                         "%68, %69");
  }
}

/// Like the function above, with eight more columns of b, whose product is added to `last`.
template <u32 kLayout, int kTiles>
__device__ __forceinline__ void multiply_e4m3(float (&sum)[kTiles][4], float (&last)[4],
                                              const Fragment& a, u32 b) {
  if constexpr (kTiles == 8) {
    WGMMA_WITH_LAST(8, "72", "k32.f32.e4m3.e4m3", "1, 1, 1", "%32, %33, %34, %35",
                    "%36, %37, %38, %39", "%40, %41");
  } else {
    static_assert(kTiles == 16, "64 or 128 columns");
    WGMMA_WITH_LAST(16, "136", "k32.f32.e4m3.e4m3", "1, 1, 1", "%64, %65, %66, %67",
                    "%68, %69, %70, %71", "%72, %73");
  }
}

/// sum += a b: a is 64 rows by 16 f16 in registers, b is 16 keys by N f16 in shared memory, with
/// rows along n.
template <u32 kLayout, int kTiles>
__device__ __forceinline__ void multiply_f16(float (&sum)[kTiles][4], const Fragment& a, u32 b) {
  if constexpr (kTiles == 8) {
    WGMMA_A_IN_REGISTERS(8, "64", "k16.f32.f16.f16", "1, 1, 1, 1", "%32, %33, %34, %35",
                         "%36, %37");
  } else {
    static_assert(kTiles == 16, "64 or 128 columns");
    WGMMA_A_IN_REGISTERS(16, "128", "k16.f32.f16.f16", "1, 1, 1, 1", "%64, %65, %66, %67",
                         "%68, %69");
  }
}

/// Like the function above, with eight more columns of b, whose product is added to `last`.
template <u32 kLayout>
__device__ __forceinline__ void multiply_f16(float (&sum)[8][4], float (&last)[4],
                                             const Fragment& a, u32 b) {
  WGMMA_WITH_LAST(8, "72", "k16.f32.f16.f16", "1, 1, 1, 1", "%32, %33, %34, %35",
                  "%36, %37, %38, %39", "%40, %41");
}

#undef WGMMA_WITH_LAST
#undef WGMMA_A_IN_REGISTERS
#undef WGMMA_E4M3
#undef WGMMA_NAMES_32
#undef WGMMA_NAMES_16
#undef WGMMA_NAMES_8
#undef WGMMA_NAMES_4
#undef WGMMA_32
#undef WGMMA_16
#undef WGMMA_8
#undef WGMMA_4
#undef WGMMA_LAST
#undef WGMMA_TILE

}  // namespace ptx
