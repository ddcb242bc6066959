// output[y][x] = sum of image[y + v][x + u] * filter[v][u], u and v < FILTER. The image is larger
// than the output by FILTER - 1 in both directions.
#ifndef FILTER
#error FILTER: width and height of the filter
#endif
static_assert(BLOCK_X * BLOCK_Y <= 1024, "a CTA has at most 1024 threads");

constexpr int kTileX = BLOCK_X * ITEMS_X;
constexpr int kTileY = BLOCK_Y * ITEMS_Y;
constexpr int kPatchX = kTileX + FILTER - 1;
constexpr int kPatchY = kTileY + FILTER - 1;

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y)
convolution(const float* __restrict__ image, const float* __restrict__ filter,
            float* __restrict__ output, int width, int height) {
  const int pitch = width + FILTER - 1;
  const int left = blockIdx.x * kTileX;
  const int top = blockIdx.y * kTileY;
  __shared__ float weights[FILTER * FILTER];
  for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < FILTER * FILTER; i += BLOCK_X * BLOCK_Y)
    weights[i] = filter[i];
#if USE_SHARED
  __shared__ float patch[kPatchY][kPatchX];
  for (int y = threadIdx.y; y < kPatchY; y += BLOCK_Y) {
    for (int x = threadIdx.x; x < kPatchX; x += BLOCK_X) {
      const bool inside = top + y < height + FILTER - 1 && left + x < pitch;
      patch[y][x] = inside ? image[static_cast<long>(top + y) * pitch + left + x] : 0.0f;
    }
  }
#endif
  __syncthreads();

  float sum[ITEMS_Y][ITEMS_X] = {};
#pragma unroll UNROLL_ROWS
  for (int v = 0; v < FILTER; ++v) {
#pragma unroll
    for (int u = 0; u < FILTER; ++u) {
      const float weight = weights[v * FILTER + u];
#pragma unroll
      for (int j = 0; j < ITEMS_Y; ++j) {
#pragma unroll
        for (int i = 0; i < ITEMS_X; ++i) {
          const int y = threadIdx.y + j * BLOCK_Y + v;
          const int x = threadIdx.x + i * BLOCK_X + u;
#if USE_SHARED
          sum[j][i] += patch[y][x] * weight;
#else
          if (top + y < height + FILTER - 1 && left + x < pitch)
            sum[j][i] += image[static_cast<long>(top + y) * pitch + left + x] * weight;
#endif
        }
      }
    }
  }

#pragma unroll
  for (int j = 0; j < ITEMS_Y; ++j) {
#pragma unroll
    for (int i = 0; i < ITEMS_X; ++i) {
      const int y = top + threadIdx.y + j * BLOCK_Y;
      const int x = left + threadIdx.x + i * BLOCK_X;
      if (y < height && x < width) output[static_cast<long>(y) * width + x] = sum[j][i];
    }
  }
}
