// One step of heat diffusion on a grid of HEIGHT x WIDTH: the mean of a point and its four
// neighbours; the border does not change.
extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y)
stencil(const float* __restrict__ x, float* __restrict__ y, int width, int height) {
  constexpr int kTileX = BLOCK_X * ITEMS_X;
  constexpr int kTileY = BLOCK_Y * ITEMS_Y;
  const int left = blockIdx.x * kTileX;
  const int top = blockIdx.y * kTileY;
#if USE_SHARED
  __shared__ float tile[kTileY + 2][kTileX + 2 + PADDING];
  for (int j = threadIdx.y; j < kTileY + 2; j += BLOCK_Y) {
    for (int i = threadIdx.x; i < kTileX + 2; i += BLOCK_X) {
      const int row = min(max(top + j - 1, 0), height - 1);
      const int column = min(max(left + i - 1, 0), width - 1);
      tile[j][i] = x[static_cast<long>(row) * width + column];
    }
  }
  __syncthreads();
#endif
#pragma unroll UNROLL_Y
  for (int j = 0; j < ITEMS_Y; ++j) {
#pragma unroll
    for (int i = 0; i < ITEMS_X; ++i) {
#if CONTIGUOUS_X
      const int column = left + threadIdx.x * ITEMS_X + i;
#else
      const int column = left + threadIdx.x + i * BLOCK_X;
#endif
      const int row = top + threadIdx.y + j * BLOCK_Y;
      if (row >= height || column >= width) continue;
      const long at = static_cast<long>(row) * width + column;
      const bool border = row == 0 || column == 0 || row == height - 1 || column == width - 1;
#if USE_SHARED
      const int v = row - top + 1;
      const int u = column - left + 1;
      const float middle = tile[v][u];
      const float around = tile[v - 1][u] + tile[v + 1][u] + tile[v][u - 1] + tile[v][u + 1];
      y[at] = border ? middle : 0.2f * (middle + around);
#else
      y[at] = border ? x[at]
                     : 0.2f * (x[at] + (x[at - width] + x[at + width] + x[at - 1] + x[at + 1]));
#endif
    }
  }
}
