// total[0] += sum of x; total[0] is zero before the launch. Each CTA sums every gridDim.x-th block
// of THREADS vectors (CTA 0 also the rest of x), and adds its sum to total[0] once.
#define VECTOR_TYPE_1 float
#define VECTOR_TYPE_2 float2
#define VECTOR_TYPE_4 float4
#define JOIN(a, b) a##b
#define VECTOR_TYPE(n) JOIN(VECTOR_TYPE_, n)
using Vector = VECTOR_TYPE(VECTOR);

__device__ double sum_of(Vector v) {
  const float* part = reinterpret_cast<const float*>(&v);
#if FLOAT_PARTS
  float sum = 0;
#else
  double sum = 0;
#endif
#pragma unroll
  for (int i = 0; i < VECTOR; ++i) sum += part[i];
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sum(const float* __restrict__ x, double* __restrict__ total, long n) {
  const long vectors = n / VECTOR;
  const long stride = static_cast<long>(gridDim.x) * THREADS;
  const Vector* data = reinterpret_cast<const Vector*>(x);
  double part = 0;
#pragma unroll UNROLL
  for (long i = static_cast<long>(blockIdx.x) * THREADS + threadIdx.x; i < vectors; i += stride)
    part += sum_of(data[i]);
  if (blockIdx.x == 0 && threadIdx.x < n - vectors * VECTOR) part += x[vectors * VECTOR + threadIdx.x];

  __shared__ double warps[THREADS / 32];
#if USE_SHUFFLE
  for (int offset = 16; offset > 0; offset /= 2) part += __shfl_down_sync(0xffffffff, part, offset);
#else
  __shared__ double lanes[THREADS];
  lanes[threadIdx.x] = part;
  __syncwarp();
  for (int offset = 16; offset > 0; offset /= 2) {
    if (threadIdx.x % 32 < offset) lanes[threadIdx.x] += lanes[threadIdx.x + offset];
    __syncwarp();
  }
  part = lanes[threadIdx.x];
#endif
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = part;
  __syncthreads();
  if (threadIdx.x == 0) {
    double all = 0;
    for (int i = 0; i < THREADS / 32; ++i) all += warps[i];
    atomicAdd(total, all);
  }
}
