// y = 2 x + 1, after WORK dependent multiply-adds that only take time.
extern "C" __global__ void busy(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (i >= n) return;
  float work = x[i];
#pragma unroll 4
  for (int k = 0; k < WORK; ++k) work = fmaf(work, 0.5f, 0.25f);
  y[i] = 2.0f * x[i] + (work == 12345.0f ? 2.0f : 1.0f);
}
