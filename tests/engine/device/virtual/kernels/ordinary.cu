// Typical kernels, for comparing the virtual GPU with the CPU and with a real GPU.
typedef unsigned u32;
typedef unsigned long long u64;

__constant__ float taps[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
__device__ u32 global_counter;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL saxpy(const float* x, float* y, float a, int n) {
  const int i = INDEX;
  if (i < n) y[i] = a * x[i] + y[i];
}

KERNEL grid_stride_sum_square(const float* x, float* out, int n) {
  float sum = 0;
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) sum += x[i] * x[i];
  atomicAdd(out, sum);
}

KERNEL reduce_tree(const int* x, int* out, int n) {
  __shared__ int part[256];
  const int i = INDEX;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

KERNEL reduce_shuffle(const int* x, int* out, int n) {
  __shared__ int part[32];
  const int i = INDEX;
  int v = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    v = __reduce_add_sync(~0u, v);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

KERNEL reduce_max_cooperative(const int* x, int* out, int n) {
  // The last CTA to finish combines the results of all CTAs.
  __shared__ int part[256];
  __shared__ bool last;
  const int t = threadIdx.x;
  int best = -2147483647;
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) best = max(best, x[i]);
  part[t] = best;
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) part[t] = max(part[t], part[t + step]);
    __syncthreads();
  }
  if (t == 0) {
    out[1 + blockIdx.x] = part[0];
    __threadfence();
    last = atomicAdd(&global_counter, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    int all = -2147483647;
    for (int b = 0; b < gridDim.x; ++b) all = max(all, ((volatile int*)out)[1 + b]);
    out[0] = all;
    global_counter = 0;
  }
}

KERNEL scan_block(const int* x, int* out, int n) {
  __shared__ int a[2][256];
  const int t = threadIdx.x;
  int from = 0;
  a[0][t] = t < n ? x[t] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    a[1 - from][t] = t >= d ? a[from][t] + a[from][t - d] : a[from][t];
    from = 1 - from;
    __syncthreads();
  }
  if (t < n) out[t] = a[from][t];
}

KERNEL scan_warp_shuffle(const int* x, int* out, int n) {
  __shared__ int totals[8];
  const int t = threadIdx.x;
  int v = x[t];
  for (int d = 1; d < 32; d *= 2) {
    const int up = __shfl_up_sync(~0u, v, d);
    if (t % 32 >= d) v += up;
  }
  if (t % 32 == 31) totals[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) v += totals[w];
  out[t] = v;
}

KERNEL transpose_padded(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x;
  const int ty = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (tx < n && ty + j < n) out[(ty + j) * n + tx] = tile[threadIdx.x][threadIdx.y + j];
}

KERNEL gemm_naive(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

KERNEL gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16];
  __shared__ float tb[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    ta[threadIdx.y][threadIdx.x] = y < n && k0 + threadIdx.x < n ? a[y * n + k0 + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = x < n && k0 + threadIdx.y < n ? b[(k0 + threadIdx.y) * n + x] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}

KERNEL stencil_halo(const float* in, float* out, int n) {
  __shared__ float tile[128 + 4];
  const int i = INDEX;
  const int t = threadIdx.x + 2;
  tile[t] = i < n ? in[i] : 0;
  if (threadIdx.x < 2) {
    tile[t - 2] = i >= 2 ? in[i - 2] : 0;
    const int right = i + blockDim.x;
    tile[t + blockDim.x] = right < n ? in[right] : 0;
  }
  __syncthreads();
  if (i < n) {
    float sum = 0;
    for (int k = 0; k < 5; ++k) sum += taps[k] * tile[t + k - 2];
    out[i] = sum;
  }
}

KERNEL histogram_shared(const unsigned char* in, u32* out, int n) {
  __shared__ u32 bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

KERNEL bytes_reverse(const unsigned char* in, unsigned char* out, int n) {
  __shared__ unsigned char tile[256];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[n - 1 - t];
}

KERNEL halves_rotate(const unsigned short* in, unsigned short* out, int n) {
  __shared__ unsigned short tile[256];
  const int t = threadIdx.x;
  tile[(t + 1) % n] = in[t];
  __syncthreads();
  out[t] = tile[t];
}

KERNEL bit_tricks(const u32* in, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = in[i];
  u32* o = out + 8 * i;
  o[0] = __popc(x);
  o[1] = __clz(x);
  o[2] = __brev(x);
  o[3] = __ffs(x);
  o[4] = __byte_perm(x, ~x, 0x7531);
  o[5] = __funnelshift_l(x, ~x, i);
  o[6] = (x >> 3 & 0x1f) | (x << 27);
  o[7] = __vadd4(x, 0x01020304);
}

KERNEL wide_integers(const u64* in, u64* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u64 x = in[i];
  u64* o = out + 6 * i;
  o[0] = x * x;
  o[1] = __umul64hi(x, x);
  o[2] = x / 1000003;
  o[3] = x % (u64)(i + 3);
  o[4] = (u64)((long long)x >> 7);
  o[5] = __popcll(x) + __clzll(x) + (x << (i % 64));
}

KERNEL integer_division(const int* a, const int* b, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = (u32)a[i] / (u32)b[i];
  out[4 * i + 3] = (short)a[i] * (signed char)b[i];
}

KERNEL doubles(const double* x, double* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  out[4 * i] = sqrt(x[i]) / (x[i] + 1);
  out[4 * i + 1] = fma(x[i], x[i], -1.0);
  out[4 * i + 2] = floor(x[i]) + (int)x[i];
  out[4 * i + 3] = x[i] > 3 ? x[i] : 1 / x[i];
}

KERNEL special_functions(const float* x, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  float* o = out + 10 * i;
  o[0] = expf(x[i]);
  o[1] = logf(x[i]);
  o[2] = sinf(x[i]);
  o[3] = cosf(x[i]);
  o[4] = tanhf(x[i]);
  o[5] = powf(x[i], 1.7f);
  o[6] = rsqrtf(x[i]);
  o[7] = x[i] / 3.7f;
  o[8] = erff(x[i]);
  o[9] = atan2f(x[i], 2.0f);
}

KERNEL fast_functions(const float* x, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  float* o = out + 5 * i;
  o[0] = __expf(x[i]);
  o[1] = __logf(x[i]);
  o[2] = __sinf(x[i]);
  o[3] = __fdividef(x[i], 3.0f);
  o[4] = __frcp_rn(x[i]);
}

KERNEL rounding_modes(const float* x, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  float* o = out + 8 * i;
  o[0] = __fadd_rz(x[i], 1e-3f);
  o[1] = __fmul_ru(x[i], 1.1f);
  o[2] = __fdiv_rd(x[i], 3.0f);
  o[3] = rintf(x[i]);
  o[4] = floorf(x[i]);
  o[5] = truncf(-x[i]);
  o[6] = __int2float_rz(16777217 + i);
  o[7] = __saturatef(x[i]);
}

KERNEL conversions(const float* x, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  out[6 * i] = __float2int_rn(x[i]);
  out[6 * i + 1] = __float2int_rd(x[i]);
  out[6 * i + 2] = (int)__float2uint_rz(x[i]);
  out[6 * i + 3] = (signed char)x[i];
  out[6 * i + 4] = (unsigned short)(x[i] * 100);
  out[6 * i + 5] = (int)(long long)(x[i] * 1e6f);
}

KERNEL warp_votes(const int* x, u32* out, int n) {
  const int i = INDEX;
  u32* o = out + 6 * i;
  o[0] = __ballot_sync(~0u, x[i] > 0);
  o[1] = __all_sync(~0u, x[i] > -100);
  o[2] = __any_sync(~0u, x[i] > 90);
  o[3] = __match_any_sync(~0u, x[i] & 3);
  o[4] = __shfl_sync(~0u, x[i], 5, 8);
  o[5] = __shfl_xor_sync(~0u, x[i], 9, 16);
}

KERNEL collatz(const u32* x, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  u32 v = x[i];
  u32 steps = 0;
  while (v > 1) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++steps;
  }
  out[i] = steps;
}

KERNEL switch_cases(const int* x, int* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  int v = x[i];
  switch (v & 7) {
    case 0: v *= 3; break;
    case 1: v -= 100; break;
    case 2: v ^= 0x55; break;
    case 3: v = v / 5; break;
    case 4: v = -v; break;
    case 5: v += out[i]; break;
    default: v = 7;
  }
  out[i] = v;
}

KERNEL sort_local(const int* x, int* out, int n) {
  int a[8];
  const int i = INDEX;
  for (int k = 0; k < 8; ++k) a[k] = x[8 * i + k];
#pragma unroll 1
  for (int k = 1; k < 8; ++k) {
    const int v = a[k];
    int j = k;
    for (; j > 0 && a[j - 1] > v; --j) a[j] = a[j - 1];
    a[j] = v;
  }
  for (int k = 0; k < 8; ++k) out[8 * i + k] = a[k];
}

KERNEL bitonic_sort(int* data, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = data[t];
  __syncthreads();
  for (int k = 2; k <= 256; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t) {
        const bool up = (t & k) == 0;
        const int a = s[t];
        const int b = s[other];
        if ((a > b) == up) {
          s[t] = b;
          s[other] = a;
        }
      }
      __syncthreads();
    }
  }
  data[t] = s[t];
}

__device__ __noinline__ int add_digits(int v) {
  int sum = 0;
  while (v > 0) {
    sum += v % 10;
    v /= 10;
  }
  return sum;
}

KERNEL calls_function(const int* x, int* out, int n) {
  const int i = INDEX;
  if (i < n) out[i] = add_digits(x[i]) + add_digits(x[i] / 3);
}

struct Pair {
  float scale;
  int shift;
};

KERNEL struct_parameter(const float* x, float* out, Pair p) {
  const int i = INDEX;
  out[i] = x[(i + p.shift) % blockDim.x] * p.scale;
}

KERNEL atomics(int* out, u32* words, u64* longs, float* floats) {
  const int t = threadIdx.x;
  atomicMax(out, t);
  atomicMin(out + 1, -t);
  atomicAnd(words, ~(1u << (t % 32)));
  atomicOr(words + 1, 1u << (t % 32));
  atomicXor(words + 2, t);
  atomicInc(words + 3, 10);
  atomicAdd(longs, (u64)t << 20);
  atomicAdd(floats, 0.5f);
  u32 old = words[4];
  u32 seen;
  do {
    seen = old;
    old = atomicCAS(words + 4, seen, seen + 2);
  } while (old != seen);
}

KERNEL spin_lock(int* lock, int* total) {
  // Threads of one warp take the lock in turn, which requires progress of the lane that holds it.
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int*)total = *(volatile int*)total + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

KERNEL work_queue(u32* queue, int* out, int n) {
  __shared__ u32 item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(queue, 1);
    __syncthreads();
    const u32 i = item;
    __syncthreads();
    if (i * blockDim.x >= n) break;
    out[i * blockDim.x + threadIdx.x] = i * 1000 + threadIdx.x;
  }
}

KERNEL grid_barrier(volatile u32* arrived, int* out, int n) {
  // Every CTA waits for all other CTAs, so all CTAs must be resident.
  out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd((u32*)arrived, 1);
    while (*arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  const int other = (blockIdx.x + 1) % gridDim.x;
  out[n + blockIdx.x * blockDim.x + threadIdx.x] = ((volatile int*)out)[other * blockDim.x + threadIdx.x];
}

KERNEL vector_copy(const float4* in, float4* out, int n) {
  const int i = INDEX;
  if (i < n) {
    float4 v = in[i];
    v.x += 1;
    v.w *= 2;
    out[i] = v;
  }
}

KERNEL generic_pointers(const int* in, int* out, int n) {
  __shared__ int s[64];
  int l[4] = {1, 2, 3, 4};
  const int t = threadIdx.x;
  s[t] = in[t] * 2;
  __syncthreads();
  const int* p = t % 3 == 0 ? in + t : t % 3 == 1 ? s + t : l + (n + t) % 4;
  out[t] = *p;
}

KERNEL ticket_barrier_sync(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  out[3 * t] = __syncthreads_count(in[t] > 0);
  out[3 * t + 1] = __syncthreads_and(in[t] > -1000);
  out[3 * t + 2] = __syncthreads_or(in[t] > 1000);
}

KERNEL mandelbrot(unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cx = -2.0f + 3.0f * x / width;
  const float cy = -1.0f + 2.0f * y / height;
  float zx = 0, zy = 0;
  int i = 0;
  for (; i < 100 && zx * zx + zy * zy < 4; ++i) {
    const float t = __fadd_rn(__fmul_rn(zx, zx) - __fmul_rn(zy, zy), cx);
    zy = __fadd_rn(__fmul_rn(2 * zx, zy), cy);
    zx = t;
  }
  out[y * width + x] = i;
}

KERNEL dynamic_shared(const float* in, float* out, int n) {
  extern __shared__ float pool[];
  float* a = pool;
  float* b = pool + n;
  const int t = threadIdx.x;
  a[t] = in[t];
  b[n - 1 - t] = in[t];
  __syncthreads();
  out[t] = a[n - 1 - t] - b[t];
}

KERNEL sparse_matrix_vector(const int* row, const int* column, const float* value, const float* x, float* y, int n) {
  const int r = INDEX;
  if (r >= n) return;
  float sum = 0;
  for (int k = row[r]; k < row[r + 1]; ++k) sum = fmaf(value[k], x[column[k]], sum);
  y[r] = sum;
}

// Each thread processes two elements. If the second element lies beyond the end, the kernel neither
// loads it nor stores its result, but still runs the loop for it.
extern "C" __global__ void halvings_of_two(const float* x, int* out, int n) {
  const int first = blockIdx.x * 64 + threadIdx.x;
  float value[2];
  int steps[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (first + 32 * i < n) value[i] = x[first + 32 * i];
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    steps[i] = 0;
    while (value[i] > 1) {
      value[i] *= 0.5f;
      ++steps[i];
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (first + 32 * i < n) out[first + 32 * i] = steps[i];
  }
}
