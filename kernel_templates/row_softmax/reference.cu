// y = softmax of each row of x, straightforward: one thread per row; exponentials and sums in f64.
// Grid (ceil_div(R, 64)) for R rows, block (64).

extern "C" __global__ void row_softmax_reference(const float* x, float* y, int rows, int columns) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float* out = y + static_cast<long long>(row) * columns;

  float largest = in[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, in[c]);
  double sum = 0.0;
  for (int c = 0; c < columns; ++c) sum += exp(static_cast<double>(in[c] - largest));
  for (int c = 0; c < columns; ++c) {
    out[c] = static_cast<float>(exp(static_cast<double>(in[c] - largest)) / sum);
  }
}
