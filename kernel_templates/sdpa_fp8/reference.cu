// O = softmax(softmax_scale * (q_scale Q) (k_scale K)^T) (v_scale V), straightforward: one CTA per
// query row, everything in f32, e4m3 decoded by its definition. Grid (LQ, B*H), block (D), 4*LKV
// shared bytes. CAUSAL: query i sees keys 0 … i (top-left, as in PyTorch).

#include "common/convert.cuh"

/// e4m3 has 1 sign, 4 exponent (bias 7) and 3 mantissa bits; no infinity, S.1111.111 is NaN. The
/// seven low bits, shifted left by 20, are an f32: the value times 2^(7 - 127). For a subnormal
/// e4m3, the f32 is subnormal, too, and its product with 2^120 is exact.
__device__ float f32_from_e4m3(u8 bits) {
  const int magnitude_bits = bits & 0x7F;
  float magnitude = __int_as_float(magnitude_bits << 20) * 0x1p120f;
  if (magnitude_bits == 0x7F) magnitude = __int_as_float(0x7FC00000);
  return bits & 0x80 ? -magnitude : magnitude;
}

/// One CTA per query row and (batch, head).
extern "C" __global__ void sdpa_reference(const u8* q, const u8* k, const u8* v, u16* o, float* lse,
                                          const float* q_scale, const float* k_scale,
                                          const float* v_scale, float softmax_scale, int q_len,
                                          int kv_len, int /*batch_heads*/, int heads_per_kv,
                                          int scale_per_head, int write_lse, u32* /*queue*/,
                                          float* /*partials*/) {
  extern __shared__ float weight[];  // one score, then its exponential, per key
  const int head_dim = static_cast<int>(blockDim.x);
  const int lane = static_cast<int>(threadIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const int kv_head = head / heads_per_kv;
  const u64 row = static_cast<u64>(head) * q_len + blockIdx.x;
  const u64 keys = static_cast<u64>(kv_head) * kv_len;
  const int visible = CAUSAL ? min(kv_len, static_cast<int>(blockIdx.x) + 1) : kv_len;
  const float scale =
      softmax_scale * q_scale[scale_per_head ? head : 0] * k_scale[scale_per_head ? kv_head : 0];

  for (int key = lane; key < visible; key += head_dim) {
    float dot = 0.0f;
    for (int d = 0; d < head_dim; ++d) {
      dot += f32_from_e4m3(q[row * head_dim + d]) * f32_from_e4m3(k[(keys + key) * head_dim + d]);
    }
    weight[key] = dot * scale;
  }
  __syncthreads();

  float largest = weight[0];
  for (int key = 1; key < visible; ++key) largest = fmaxf(largest, weight[key]);
  __syncthreads();
  for (int key = lane; key < visible; key += head_dim) weight[key] = expf(weight[key] - largest);
  __syncthreads();

  float sum = 0.0f;
  float value = 0.0f;
  for (int key = 0; key < visible; ++key) {
    sum += weight[key];
    value += weight[key] * f32_from_e4m3(v[(keys + key) * head_dim + lane]);
  }
  value = value / sum * v_scale[scale_per_head ? kv_head : 0];
  o[row * head_dim + lane] = static_cast<u16>(ptx::f16x2_from_f32(value, 0.0f) & 0xFFFFu);
  if (write_lse && lane == 0) lse[row] = largest + logf(sum);
}
