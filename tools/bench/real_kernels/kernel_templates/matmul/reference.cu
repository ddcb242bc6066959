// One thread per element, tiles of 16 x 16 in shared memory, sums in double precision.
extern "C" __global__ void matmul_reference(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][17];
  __shared__ float tile_b[16][17];
  const long row = blockIdx.y * 16 + threadIdx.y;
  const long column = blockIdx.x * 16 + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * static_cast<long>(n) + column];
    __syncthreads();
    for (int d = 0; d < 16; ++d)
      sum += static_cast<double>(tile_a[threadIdx.y][d]) * tile_b[d][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
