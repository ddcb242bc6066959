// Kernels that compute D = A B + C by wmma, in shapes and types that tensor.cu does not use; A and
// C are row-major.
#include <mma.h>

template <typename Layout>
struct IsRow {
  static constexpr bool kValue = false;
};
template <>
struct IsRow<nvcuda::wmma::row_major> {
  static constexpr bool kValue = true;
};

template <int M, int N, int K, typename Ab, typename Memory, typename Acc, typename LayoutB>
__device__ void wmma_of(const Memory* a, const Memory* b, const Acc* c, Acc* d) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, M, N, K, Ab, row_major> fa;
  fragment<matrix_b, M, N, K, Ab, LayoutB> fb;
  fragment<accumulator, M, N, K, Acc> acc;
  load_matrix_sync(fa, a, K);
  load_matrix_sync(fb, b, IsRow<LayoutB>::kValue ? N : K);
  load_matrix_sync(acc, c, N, mem_row_major);
  mma_sync(acc, fa, fb, acc);
  store_matrix_sync(d, acc, N, mem_row_major);
}

#define WMMA_KERNEL(NAME, M, N, K, AB, MEMORY, ACC, LAYOUT)                                 \
  extern "C" __global__ void NAME(const MEMORY* a, const MEMORY* b, const ACC* c, ACC* d) { \
    wmma_of<M, N, K, AB, MEMORY, ACC, nvcuda::wmma::LAYOUT>(a, b, c, d);                    \
  }
WMMA_KERNEL(wmma_s8_16_16_col, 16, 16, 16, signed char, signed char, int, col_major)
WMMA_KERNEL(wmma_s8_32_8_col, 32, 8, 16, signed char, signed char, int, col_major)
WMMA_KERNEL(wmma_s8_8_32_col, 8, 32, 16, signed char, signed char, int, col_major)
WMMA_KERNEL(wmma_u8_8_32_row, 8, 32, 16, unsigned char, unsigned char, int, row_major)
WMMA_KERNEL(wmma_f16_32_8_row, 32, 8, 16, half, half, float, row_major)
WMMA_KERNEL(wmma_f16_8_32_col, 8, 32, 16, half, half, float, col_major)
WMMA_KERNEL(wmma_f16_8_32_half, 8, 32, 16, half, half, half, row_major)
WMMA_KERNEL(wmma_bf16_32_8_col, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, float, col_major)
WMMA_KERNEL(wmma_tf32_16_16_row, 16, 16, 8, nvcuda::wmma::precision::tf32, float, float, row_major)
WMMA_KERNEL(wmma_f64_8_8_row, 8, 8, 4, double, double, double, row_major)
WMMA_KERNEL(wmma_f64_8_8_col, 8, 8, 4, double, double, double, col_major)

// Computes D = A B + C by mma.sync in f64, with B column-major.
extern "C" __global__ void mma_f64_8_8_4(const double* a, const double* b, const double* c,
                                         double* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const double* from = c + g * 8 + 2 * t;
  double* to = d + g * 8 + 2 * t;
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=d"(to[0]), "=d"(to[1])
      : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]), "d"(from[0]), "d"(from[1]));
}

extern "C" __global__ void mma_f64_16_8_8(const double* a, const double* b, const double* c,
                                          double* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const double* row = a + g * 8 + t;
  const double* from = c + g * 8 + 2 * t;
  double* to = d + g * 8 + 2 * t;
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=d"(to[0]), "=d"(to[1]), "=d"(to[64]), "=d"(to[65])
      : "d"(row[0]), "d"(row[64]), "d"(row[4]), "d"(row[68]), "d"(b[g * 8 + t]),
        "d"(b[g * 8 + t + 4]), "d"(from[0]), "d"(from[1]), "d"(from[64]), "d"(from[65]));
}
