// y = 2 x + 1, one element per thread. Grid (ceil_div(n, 128)), block (128).

extern "C" __global__ void planted_reference(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}
