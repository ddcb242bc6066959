extern "C" __global__ void cheats_reference(const float* x, float* y, int n, unsigned* kept) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}
