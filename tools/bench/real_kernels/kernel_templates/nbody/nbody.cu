// All pairs: force[i] = sum over j of mass[j] * (p[j] - p[i]) / (|p[j] - p[i]|^2 +
// softening)^(3/2).
constexpr float kSoftening = 0.01f;

extern "C" __global__ void __launch_bounds__(THREADS)
nbody(const float4* __restrict__ bodies, float* __restrict__ force, int n) {
  const int first = blockIdx.x * THREADS * ITEMS + threadIdx.x;
  float4 mine[ITEMS];
  float sum[ITEMS][3] = {};
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) mine[i] = bodies[min(first + i * THREADS, n - 1)];
#if USE_SHARED
  __shared__ float4 tile[THREADS];
#endif
  for (int start = 0; start < n; start += THREADS) {
#if USE_SHARED
    __syncthreads();
    tile[threadIdx.x] = start + threadIdx.x < n ? bodies[start + threadIdx.x] : float4{0, 0, 0, 0};
    __syncthreads();
#endif
#pragma unroll UNROLL
    for (int j = 0; j < THREADS; ++j) {
#if USE_SHARED
      const float4 other = tile[j];
#else
      if (start + j >= n) break;
      const float4 other = bodies[start + j];
#endif
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        const float x = other.x - mine[i].x;
        const float y = other.y - mine[i].y;
        const float z = other.z - mine[i].z;
        const float inverse = rsqrtf(x * x + y * y + z * z + kSoftening);
        const float weight = other.w * inverse * inverse * inverse;
        sum[i][0] += weight * x;
        sum[i][1] += weight * y;
        sum[i][2] += weight * z;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const long body = first + i * THREADS;
    if (body >= n) break;
    for (int axis = 0; axis < 3; ++axis) force[3 * body + axis] = sum[i][axis];
  }
}
