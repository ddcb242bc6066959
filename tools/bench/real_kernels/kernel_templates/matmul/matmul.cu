// C = A * B, square f32 matrices of N x N, row-major; N is a multiple of the sides of all tiles.
static_assert(BLOCK_X * BLOCK_Y <= 1024, "a CTA has at most 1024 threads");
constexpr int kThreads = BLOCK_X * BLOCK_Y;
constexpr int kRows = BLOCK_Y * ITEMS_Y;
constexpr int kColumns = BLOCK_X * ITEMS_X;

extern "C" __global__ void __launch_bounds__(kThreads)
matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ float tile_a[kRows][DEPTH + PADDING];
  __shared__ float tile_b[DEPTH][kColumns];
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  const long top = static_cast<long>(blockIdx.y) * kRows;
  const long left = static_cast<long>(blockIdx.x) * kColumns;
  float sum[ITEMS_Y][ITEMS_X] = {};
  for (int k = 0; k < n; k += DEPTH) {
    for (int i = thread; i < kRows * DEPTH; i += kThreads)
      tile_a[i / DEPTH][i % DEPTH] = a[(top + i / DEPTH) * n + k + i % DEPTH];
    for (int i = thread; i < DEPTH * kColumns; i += kThreads)
      tile_b[i / kColumns][i % kColumns] = b[static_cast<long>(k + i / kColumns) * n + left + i % kColumns];
    __syncthreads();
#pragma unroll UNROLL_DEPTH
    for (int d = 0; d < DEPTH; ++d) {
      float column[ITEMS_X];
#pragma unroll
      for (int i = 0; i < ITEMS_X; ++i) column[i] = tile_b[d][threadIdx.x + i * BLOCK_X];
#pragma unroll
      for (int j = 0; j < ITEMS_Y; ++j) {
        const float row = tile_a[threadIdx.y + j * BLOCK_Y][d];
#pragma unroll
        for (int i = 0; i < ITEMS_X; ++i) sum[j][i] += row * column[i];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < ITEMS_Y; ++j) {
#pragma unroll
    for (int i = 0; i < ITEMS_X; ++i)
      c[(top + threadIdx.y + j * BLOCK_Y) * n + left + threadIdx.x + i * BLOCK_X] = sum[j][i];
  }
}
