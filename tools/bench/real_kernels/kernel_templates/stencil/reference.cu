// One thread per point, in double precision.
extern "C" __global__ void stencil_reference(const float* x, float* y, int width, int height) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  const long at = static_cast<long>(row) * width + column;
  double value = x[at];
  if (row > 0 && column > 0 && row < height - 1 && column < width - 1)
    value = (value + x[at - width] + x[at + width] + x[at - 1] + x[at + 1]) / 5;
  y[at] = value;
}
