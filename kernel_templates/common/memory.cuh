// Accesses to shared memory (4 to 16 bytes, 32-bit addresses) and global memory (8 or 16 bytes).
#pragma once

#include "common/types.cuh"

namespace ptx {

__device__ __forceinline__ Chunk load_shared(u32 shared) {
  Chunk c;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(c.word[0]), "=r"(c.word[1]), "=r"(c.word[2]), "=r"(c.word[3])
               : "r"(shared)
               : "memory");
  return c;
}

__device__ __forceinline__ void store_shared(u32 shared, const Chunk& c) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(shared), "r"(c.word[0]),
               "r"(c.word[1]), "r"(c.word[2]), "r"(c.word[3])
               : "memory");
}

__device__ __forceinline__ Float4 load_shared_f32(u32 shared) {
  Float4 f;
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(f.value[0]), "=f"(f.value[1]), "=f"(f.value[2]), "=f"(f.value[3])
               : "r"(shared)
               : "memory");
  return f;
}

__device__ __forceinline__ void store_shared_f32(u32 shared, float a, float b, float c, float d) {
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(shared), "f"(a), "f"(b), "f"(c), "f"(d)
               : "memory");
}

__device__ __forceinline__ void store_shared_pair(u32 shared, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(shared), "f"(a), "f"(b) : "memory");
}

__device__ __forceinline__ void store_shared_word(u32 shared, u32 word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared), "r"(word) : "memory");
}

__device__ __forceinline__ u32 load_shared_word(u32 shared) {
  u32 word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(shared) : "memory");
  return word;
}

struct Pair {
  float first;
  float second;
};

__device__ __forceinline__ Pair load_shared_pair(u32 shared) {
  Pair p;
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];"
               : "=f"(p.first), "=f"(p.second)
               : "r"(shared)
               : "memory");
  return p;
}

/// Reads global memory that nothing writes while the kernel runs.
__device__ __forceinline__ Chunk load_constant(const void* global) {
  Chunk c;
  asm("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
      : "=r"(c.word[0]), "=r"(c.word[1]), "=r"(c.word[2]), "=r"(c.word[3])
      : "l"(global));
  return c;
}

/// Reads data written by another CTA: bypasses L1, which may hold older data.
__device__ __forceinline__ Float4 load_global_f32(const float* global) {
  Float4 f;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(f.value[0]), "=f"(f.value[1]), "=f"(f.value[2]), "=f"(f.value[3])
               : "l"(global)
               : "memory");
  return f;
}

__device__ __forceinline__ Pair load_global_pair(const float* global) {
  Pair p;
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0,%1}, [%2];"
               : "=f"(p.first), "=f"(p.second)
               : "l"(global)
               : "memory");
  return p;
}

}  // namespace ptx
