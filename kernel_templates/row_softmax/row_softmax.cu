// y = softmax of each row of x; x, y: f32, (rows, columns) contiguous, any size from 1.
// ROWS_PER_CTA rows per CTA, THREADS_PER_ROW threads per row. Threads process a row in vectors of
// VECTOR columns, or in single columns if the rows are not aligned to vectors.
//
// METHOD three_pass: maximum, sum, output, each reading x from global memory.
//        online:     maximum and sum in one pass, then output.
//        cached:     as three_pass, but the first CACHE_VECTORS vectors of each thread stay in
//                    registers; the others are read again.

#include "common/exp2.cuh"
#include "common/sync.cuh"

#if !defined(THREADS_PER_ROW) || !defined(ROWS_PER_CTA) || !defined(VECTOR) || !defined(METHOD) || \
    !defined(CACHE_VECTORS) || !defined(FAST_EXP) || !defined(UNROLL)
#error a macro of the template is not defined: see search_spaces/row_softmax_l4.json for the list
#endif
#if THREADS_PER_ROW * ROWS_PER_CTA < 32 || THREADS_PER_ROW * ROWS_PER_CTA > 1024
#error a CTA has 32 to 1024 threads
#endif
#if (METHOD == METHOD_CACHED) != (CACHE_VECTORS > 0)
#error CACHE_VECTORS is for METHOD cached, and needed there
#endif
static_assert((THREADS_PER_ROW & (THREADS_PER_ROW - 1)) == 0, "rows are reduced by halving");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "a load moves at most 16 bytes");

constexpr int kThreads = THREADS_PER_ROW * ROWS_PER_CTA;
constexpr int kUnroll = UNROLL;
constexpr int kCache = CACHE_VECTORS > 0 ? CACHE_VECTORS : 1;
constexpr int kRowWarps = THREADS_PER_ROW > kWarp ? THREADS_PER_ROW / kWarp : 1;
constexpr float kLog2E = 1.4426950408889634f;
/// The maximum of an empty set: finite, so that kNoMaximum - kNoMaximum is 0 and not NaN.
constexpr float kNoMaximum = -3.0e38f;

template <int kWidth>
struct alignas(4 * kWidth) Vector {
  float value[kWidth];
};

/// The maximum of a set of values and their sum of 2^((x - maximum) log2 e).
struct Partial {
  float maximum;
  float sum;
};

/// e^x for x <= 0.
__device__ __forceinline__ float exponential(float x) {
#if FAST_EXP == FAST_EXP_POLY5
  return exp2_poly5(x * kLog2E);
#elif FAST_EXP == FAST_EXP_MUFU
  return ptx::exp2_mufu(x * kLog2E);
#else
  return exp2_full(x * kLog2E);
#endif
}

__device__ __forceinline__ Partial merged(const Partial& a, const Partial& b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  return {maximum,
          a.sum * exponential(a.maximum - maximum) + b.sum * exponential(b.maximum - maximum)};
}
__device__ __forceinline__ float merged(float a, float b) { return fmaxf(a, b); }

__device__ __forceinline__ Partial shuffled(const Partial& a, int mask) {
  return {ptx::shuffle_xor(a.maximum, mask), ptx::shuffle_xor(a.sum, mask)};
}
__device__ __forceinline__ float shuffled(float a, int mask) { return ptx::shuffle_xor(a, mask); }

/// Reduces `value` over the threads of a row; each thread of the row gets the result. All threads
/// of the CTA must call reduce_row(). `scratch`: one entry per warp.
template <typename T>
__device__ __forceinline__ T reduce_row(T value, T* scratch) {
#pragma unroll
  for (int mask = 1; mask < (THREADS_PER_ROW < kWarp ? THREADS_PER_ROW : kWarp); mask *= 2) {
    value = merged(value, shuffled(value, mask));
  }
  if constexpr (kRowWarps > 1) {
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    ptx::sync_cta();  // the previous reduction has been read
    if (threadIdx.x % kWarp == 0) scratch[warp] = value;
    ptx::sync_cta();
    const T* of_row = scratch + warp / kRowWarps * kRowWarps;
    value = of_row[0];
#pragma unroll 1
    for (int w = 1; w < kRowWarps; ++w) value = merged(value, of_row[w]);
  }
  return value;
}

/// The largest of `so_far` and this thread's elements of a row, from vector `first` on.
template <int kWidth>
__device__ __forceinline__ float largest_from(const Vector<kWidth>* x, int first, int vectors,
                                              float so_far) {
#pragma unroll kUnroll
  for (int i = first; i < vectors; i += THREADS_PER_ROW) {
    const Vector<kWidth> v = x[i];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) so_far = fmaxf(so_far, v.value[j]);
  }
  return so_far;
}

template <int kWidth>
__device__ __forceinline__ float sum_from(const Vector<kWidth>* x, int first, int vectors,
                                          float maximum) {
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = first; i < vectors; i += THREADS_PER_ROW) {
    const Vector<kWidth> v = x[i];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) sum += exponential(v.value[j] - maximum);
  }
  return sum;
}

/// Maximum and sum in one pass: the sum is rescaled when the maximum grows.
template <int kWidth>
__device__ __forceinline__ Partial online_from(const Vector<kWidth>* x, int first, int vectors) {
  Partial all = {kNoMaximum, 0.0f};
#pragma unroll kUnroll
  for (int i = first; i < vectors; i += THREADS_PER_ROW) {
    const Vector<kWidth> v = x[i];
    float largest = all.maximum;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) largest = fmaxf(largest, v.value[j]);
    all.sum *= exponential(all.maximum - largest);
    all.maximum = largest;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) all.sum += exponential(v.value[j] - largest);
  }
  return all;
}

template <int kWidth>
__device__ __forceinline__ Vector<kWidth> normalised(const Vector<kWidth>& v, const Partial& row) {
  const float factor = 1.0f / row.sum;
  Vector<kWidth> result;
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    result.value[j] = exponential(v.value[j] - row.maximum) * factor;
  }
  return result;
}

template <int kWidth>
__device__ __forceinline__ void write_from(const Vector<kWidth>* x, Vector<kWidth>* y, int first,
                                           int vectors, const Partial& row) {
#pragma unroll kUnroll
  for (int i = first; i < vectors; i += THREADS_PER_ROW) y[i] = normalised(x[i], row);
}

/// Computes one row. `vectors` is 0 for a row that does not exist, whose threads still take part in
/// barriers.
template <int kWidth>
__device__ __forceinline__ void softmax_row(const float* in, float* out, int lane, int vectors) {
  __shared__ Partial scratch[kThreads / kWarp];
  __shared__ float maxima[kThreads / kWarp];
  const auto* x = reinterpret_cast<const Vector<kWidth>*>(in);
  auto* y = reinterpret_cast<Vector<kWidth>*>(out);

  if constexpr (METHOD == METHOD_ONLINE) {
    const Partial row = reduce_row(online_from(x, lane, vectors), scratch);
    write_from(x, y, lane, vectors, row);
    return;
  }
  constexpr int kKept = METHOD == METHOD_CACHED ? kCache : 0;
  const int beyond = lane + kKept * THREADS_PER_ROW;
  Vector<kWidth> kept[kCache];
  float largest = kNoMaximum;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = lane + k * THREADS_PER_ROW;
    if (i < vectors) kept[k] = x[i];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      if (i >= vectors) kept[k].value[j] = kNoMaximum;
      largest = fmaxf(largest, kept[k].value[j]);
    }
  }
  const float maximum = reduce_row(largest_from(x, beyond, vectors, largest), maxima);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      if (lane + k * THREADS_PER_ROW < vectors) sum += exponential(kept[k].value[j] - maximum);
    }
  }
  sum += sum_from(x, beyond, vectors, maximum);
  const Partial row = reduce_row(Partial{maximum, sum}, scratch);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = lane + k * THREADS_PER_ROW;
    if (i < vectors) y[i] = normalised(kept[k], row);
  }
  write_from(x, y, beyond, vectors, row);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    row_softmax(const float* x, float* y, int rows, int columns) {
  const int row =
      static_cast<int>(blockIdx.x) * ROWS_PER_CTA + static_cast<int>(threadIdx.x) / THREADS_PER_ROW;
  const int lane = static_cast<int>(threadIdx.x) % THREADS_PER_ROW;
  const u64 offset = static_cast<u64>(row < rows ? row : 0) * columns;
  const int present = row < rows ? columns : 0;
  if (columns % VECTOR == 0) {
    softmax_row<VECTOR>(x + offset, y + offset, lane, present / VECTOR);
  } else {
    softmax_row<1>(x + offset, y + offset, lane, present);
  }
}
