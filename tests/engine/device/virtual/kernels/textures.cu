// Kernels that fetch from texture objects.

extern "C" __global__ void fetch_floats(cudaTextureObject_t t, const int* at, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, at[i]);
}

extern "C" __global__ void fetch_integers(cudaTextureObject_t t, const int* at, int4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int4>(t, at[i]);
}

extern "C" __global__ void sample_line(cudaTextureObject_t t, const float* at, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(t, at[i]);
}

extern "C" __global__ void sample_plane(cudaTextureObject_t t, const float2* at, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

extern "C" __global__ void sample_plane4(cudaTextureObject_t t, const float2* at, float4* out,
                                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float4>(t, at[i].x, at[i].y);
}

extern "C" __global__ void sample_bytes(cudaTextureObject_t t, const float2* at, uchar4* out,
                                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<uchar4>(t, at[i].x, at[i].y);
}

// Threads of a warp read different textures.
extern "C" __global__ void sample_two(cudaTextureObject_t a, cudaTextureObject_t b, float* out) {
  const int i = threadIdx.x;
  out[i] = tex2D<float>(i % 2 == 0 ? a : b, 0.5f, 0.5f);
}
