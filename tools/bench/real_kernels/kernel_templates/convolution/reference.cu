// One thread per element of the output, in double precision.
extern "C" __global__ void convolution_reference(const float* image, const float* filter,
                                                 float* output, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double sum = 0;
  for (int v = 0; v < FILTER; ++v)
    for (int u = 0; u < FILTER; ++u)
      sum += static_cast<double>(image[static_cast<long>(y + v) * (width + FILTER - 1) + x + u]) *
             filter[v * FILTER + u];
  output[static_cast<long>(y) * width + x] = sum;
}
