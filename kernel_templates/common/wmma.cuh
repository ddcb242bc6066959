// wmma m16n16k16, f16 operands and f32 accumulators, from and to shared memory. PTX does not
// specify the lane of each element, and this code does not depend on it.
//
// Pointers are 32-byte aligned, strides multiples of 16 bytes and counted in elements.
#pragma once

#include "common/async_copy.cuh"
#include "common/types.cuh"

namespace ptx {

struct Operand {
  u32 pair[8];
};
struct Accumulator {
  float value[8];
};

#define WMMA_OPERAND_OUT(f)                                                            \
  "=r"(f.pair[0]), "=r"(f.pair[1]), "=r"(f.pair[2]), "=r"(f.pair[3]), "=r"(f.pair[4]), \
      "=r"(f.pair[5]), "=r"(f.pair[6]), "=r"(f.pair[7])
#define WMMA_OPERAND_IN(f)                                                                        \
  "r"(f.pair[0]), "r"(f.pair[1]), "r"(f.pair[2]), "r"(f.pair[3]), "r"(f.pair[4]), "r"(f.pair[5]), \
      "r"(f.pair[6]), "r"(f.pair[7])
#define WMMA_ACCUMULATOR(mode, f)                                                           \
  mode(f.value[0]), mode(f.value[1]), mode(f.value[2]), mode(f.value[3]), mode(f.value[4]), \
      mode(f.value[5]), mode(f.value[6]), mode(f.value[7])

/// Loads operand A: 16 x 16, row-major.
__device__ __forceinline__ Operand load_a(const void* shared, int stride) {
  Operand f;
  asm volatile(
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : WMMA_OPERAND_OUT(f)
      : "r"(shared_address(shared)), "r"(stride)
      : "memory");
  return f;
}

/// Loads operand B: k x n = 16 x 16, row-major.
__device__ __forceinline__ Operand load_b_rows(const void* shared, int stride) {
  Operand f;
  asm volatile(
      "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : WMMA_OPERAND_OUT(f)
      : "r"(shared_address(shared)), "r"(stride)
      : "memory");
  return f;
}

/// Loads operand B: k x n = 16 x 16, column-major: n rows of k elements in memory.
__device__ __forceinline__ Operand load_b_columns(const void* shared, int stride) {
  Operand f;
  asm volatile(
      "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : WMMA_OPERAND_OUT(f)
      : "r"(shared_address(shared)), "r"(stride)
      : "memory");
  return f;
}

__device__ __forceinline__ Accumulator load_accumulator(const float* shared, int stride) {
  Accumulator f;
  asm volatile(
      "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : WMMA_ACCUMULATOR("=f", f)
      : "r"(shared_address(shared)), "r"(stride)
      : "memory");
  return f;
}

/// An accumulator whose element (i, j) is column[i]: a column-major load with stride 0. Each lane
/// gets the values of its rows, whichever rows these are.
__device__ __forceinline__ Accumulator broadcast_column(const float* column) {
  Accumulator f;
  asm volatile(
      "wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : WMMA_ACCUMULATOR("=f", f)
      : "r"(shared_address(column)), "r"(0)
      : "memory");
  return f;
}

__device__ __forceinline__ void store_accumulator(float* shared, const Accumulator& f, int stride) {
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, %9;" ::
          "r"(shared_address(shared)),
      WMMA_ACCUMULATOR("f", f), "r"(stride)
      : "memory");
}

__device__ __forceinline__ Accumulator zero_accumulator() { return Accumulator{}; }

/// sum += a x b, b loaded by load_b_rows.
__device__ __forceinline__ void multiply_add_rows(Accumulator& sum, const Operand& a,
                                                  const Operand& b) {
  asm volatile(
      "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
      "{%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23}, "
      "{%0,%1,%2,%3,%4,%5,%6,%7};"
      : WMMA_ACCUMULATOR("+f", sum)
      : WMMA_OPERAND_IN(a), WMMA_OPERAND_IN(b));
}

/// sum += a x b, b loaded by load_b_columns.
__device__ __forceinline__ void multiply_add_columns(Accumulator& sum, const Operand& a,
                                                     const Operand& b) {
  asm volatile(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
      "{%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23}, "
      "{%0,%1,%2,%3,%4,%5,%6,%7};"
      : WMMA_ACCUMULATOR("+f", sum)
      : WMMA_OPERAND_IN(a), WMMA_OPERAND_IN(b));
}

#undef WMMA_OPERAND_OUT
#undef WMMA_OPERAND_IN
#undef WMMA_ACCUMULATOR

}  // namespace ptx
