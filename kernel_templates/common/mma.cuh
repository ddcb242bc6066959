// mma.sync with fragments in registers, and functions that load, store and pack its fragments.
//
// Lane 4 g + t of a warp holds (PTX ISA, matrix fragments for mma.m16n8k16 and .m16n8k32):
//   accumulator  {row g: columns 2t, 2t+1; row g + 8: columns 2t, 2t+1}
//   A, f16       {row g: k 2t, 2t+1; row g + 8; row g: k 2t+8, 2t+9; row g + 8}
//   B, f16       {column g: k 2t, 2t+1; k 2t+8, 2t+9}
//   A, e4m3      {row g: k 4t … 4t+3; row g + 8; row g: k 4t+16 … 4t+19; row g + 8}
//   B, e4m3      {column g: k 4t … 4t+3; k 4t+16 … 4t+19}
#pragma once

#include "common/types.cuh"

namespace ptx {

/// A lane's part of an A operand, which has 16 rows by 16 f16 or 32 e4m3.
struct Fragment {
  u32 word[4];
};

/// sum += a x b, f16 operands, m16n8k16.
__device__ __forceinline__ void mma_f16(float (&sum)[4], const Fragment& a, u32 b0, u32 b1) {
  float d[4];
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1),
        "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]));
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] = d[i];
}

#if __CUDA_ARCH__ >= 890
/// sum += a x b, e4m3 operands, m16n8k32. On sm_89 this is one QMMA, whose accumulator keeps 13
/// bits of mantissa; on sm_90, ptxas replaces it by two HMMA of f16.
__device__ __forceinline__ void mma_e4m3(float (&sum)[4], const Fragment& a, u32 b0, u32 b1) {
  float d[4];
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1),
        "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]));
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] = d[i];
}

/// Returns {a, b, c, d} as bytes of e4m3, a the lowest; rounded to nearest even, saturated at 448.
__device__ __forceinline__ u32 e4m3x4_from_f32(float a, float b, float c, float d) {
  u16 low;
  u16 high;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(b), "f"(a));
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(d), "f"(c));
  return static_cast<u32>(low) | (static_cast<u32>(high) << 16);
}
#endif

/// Loads four 8 x 8 matrices of b16, transposed. Lanes 8j … 8j+7 give the addresses of the rows of
/// matrix j; register j of lane 4 g + t is then {row 2t, column g} and {row 2t+1, column g}.
__device__ __forceinline__ Fragment load_transposed(u32 shared) {
  Fragment f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
               : "r"(shared)
               : "memory");
  return f;
}

#if __CUDA_ARCH__ >= 900
/// Stores four 8 x 8 matrices of b16. Lanes 8j … 8j+7 give the addresses of the rows of matrix j,
/// whose columns 2t and 2t+1 of row g are word j of lane 4 g + t.
__device__ __forceinline__ void store_matrices(u32 shared, const Fragment& f) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared),
               "r"(f.word[0]), "r"(f.word[1]), "r"(f.word[2]), "r"(f.word[3])
               : "memory");
}
#endif

/// Selects bytes of `low` (0 to 3) and `high` (4 to 7) by the nibbles of `selector`, lowest first.
__device__ __forceinline__ u32 permute_bytes(u32 low, u32 high, u32 selector) {
  u32 word;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(low), "r"(high), "r"(selector));
  return word;
}

}  // namespace ptx
