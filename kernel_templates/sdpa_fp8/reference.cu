// O = softmax(softmax_scale * (q_scale Q) (k_scale K)^T) (v_scale V), the plain way: one CTA per
// query row, everything in f32, e4m3 by its definition. Grid (S, B*H), block (D), 4*S shared bytes.

#include "common/convert.cuh"

/// 1 sign, 4 exponent (bias 7) and 3 mantissa bits; no infinity, S.1111.111 is NaN.
__device__ float f32_from_e4m3(u8 bits) {
  const int exponent = (bits >> 3) & 15;
  const int mantissa = bits & 7;
  float magnitude = exponent == 0 ? ldexpf(static_cast<float>(mantissa), -9)
                                  : ldexpf(static_cast<float>(8 + mantissa), exponent - 10);
  if (exponent == 15 && mantissa == 7) magnitude = __int_as_float(0x7FC00000);
  return bits & 0x80 ? -magnitude : magnitude;
}

extern "C" __global__ void sdpa_reference(const u8* q, const u8* k, const u8* v, u16* o,
                                          float q_scale, float k_scale, float v_scale,
                                          float softmax_scale, int seq_len, int /*batch_heads*/,
                                          u32* /*queue*/) {
  extern __shared__ float weight[];  // one score, then its exponential, per key
  const int head_dim = static_cast<int>(blockDim.x);
  const int lane = static_cast<int>(threadIdx.x);
  const u64 head = static_cast<u64>(blockIdx.y) * seq_len * head_dim;
  const u8* query = q + head + static_cast<u64>(blockIdx.x) * head_dim;

  for (int key = lane; key < seq_len; key += head_dim) {
    float dot = 0.0f;
    for (int d = 0; d < head_dim; ++d) {
      dot +=
          f32_from_e4m3(query[d]) * f32_from_e4m3(k[head + static_cast<u64>(key) * head_dim + d]);
    }
    weight[key] = dot * q_scale * k_scale * softmax_scale;
  }
  __syncthreads();

  float largest = weight[0];
  for (int key = 1; key < seq_len; ++key) largest = fmaxf(largest, weight[key]);
  __syncthreads();
  for (int key = lane; key < seq_len; key += head_dim) weight[key] = expf(weight[key] - largest);
  __syncthreads();

  float sum = 0.0f;
  float value = 0.0f;
  for (int key = 0; key < seq_len; ++key) {
    sum += weight[key];
    value += weight[key] * f32_from_e4m3(v[head + static_cast<u64>(key) * head_dim + lane]);
  }
  o[head + static_cast<u64>(blockIdx.x) * head_dim + lane] =
      static_cast<u16>(ptx::f16x2_from_f32(value / sum * v_scale, 0.0f) & 0xFFFFu);
}
