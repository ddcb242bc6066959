// Memory: atomics, asynchronous copies, and 8 × 8 matrices.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

// All atomic operations whose result does not depend on the order of the threads.
KERNEL memory_shared_atomics(const u32* in, u32* out, u64* wide) {
  __shared__ u32 word[10];
  __shared__ u64 sum[2];
  const int t = threadIdx.x;
  if (t < 10) word[t] = t == 2 || t == 4 ? ~0u : 0;
  if (t < 2) sum[t] = 0;
  __syncthreads();
  const u32 x = in[INDEX];
  atomicAdd(word, x);
  atomicMax(word + 1, x);
  atomicMin(word + 2, x);
  atomicOr(word + 3, x & 0x10101010);
  atomicAnd(word + 4, x | 0x0f0f0f0f);
  atomicXor(word + 5, x);
  atomicInc(word + 6, 12);
  atomicDec(word + 7, 9);
  atomicMax(reinterpret_cast<int*>(word + 8), static_cast<int>(x) >> 1);
  atomicSub(word + 9, x >> 3);
  atomicAdd(sum, static_cast<u64>(x) * x);
  atomicMax(sum + 1, static_cast<u64>(x) << 20);
  __syncthreads();
  if (t < 10) out[10 * blockIdx.x + t] = word[t];
  if (t < 2) wide[2 * blockIdx.x + t] = sum[t];
}

KERNEL memory_global_reductions(const u32* in, u32* out, u64* wide, double* doubles, u32* halves) {
  const u32 x = in[INDEX];
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(out), "r"(x) : "memory");
  asm volatile("red.global.max.s32 [%0], %1;" ::"l"(out + 1), "r"(x) : "memory");
  asm volatile("red.global.and.b32 [%0], %1;" ::"l"(out + 2), "r"(x | 0x0ff00ff0) : "memory");
  asm volatile("red.global.or.b32 [%0], %1;" ::"l"(out + 3), "r"(x & 0x01010101) : "memory");
  asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(out + 4), "r"(x) : "memory");
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(wide), "l"(static_cast<u64>(x) << 7) : "memory");
  asm volatile("red.global.min.u64 [%0], %1;" ::"l"(wide + 1), "l"(static_cast<u64>(x) << 9) : "memory");
  // The sums are exact in every order, because they are small whole numbers.
  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(doubles), "d"(static_cast<double>(x & 0xffff)) : "memory");
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(halves), "r"(0x3c004000u) : "memory");
}

KERNEL memory_vectors(const u8* in, u8* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  u32 a, b, c, d;
  u16 e, f;
  const u8* from = in + 32 * i;
  u8* to = out + 32 * i;
  asm volatile("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from));
  asm volatile("st.global.v4.u8 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(d), "r"(c), "r"(b), "r"(a) : "memory");
  asm volatile("ld.global.v2.u16 {%0, %1}, [%2];" : "=h"(e), "=h"(f) : "l"(from + 4));
  asm volatile("st.global.v2.u16 [%0], {%1, %2};" ::"l"(to + 4), "h"(f), "h"(e) : "memory");
  asm volatile("ld.global.nc.s8 %0, [%1];" : "=r"(a) : "l"(from + 8));
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to + 8), "r"(a) : "memory");
  asm volatile("ld.global.s16 %0, [%1];" : "=r"(b) : "l"(from + 12));
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to + 12), "r"(b) : "memory");
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from + 16));
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to + 16), "r"(b), "r"(a), "r"(d), "r"(c) : "memory");
}

// A ring buffer of three tiles that are copied ahead. The last copies are shortened and filled with
// zeros.
KERNEL memory_async_ring(const u32* in, u32* out, int tiles, int words) {
  __shared__ __align__(16) u32 ring[3][4 * 64];
  const int t = threadIdx.x;
  auto fetch = [&](int tile) {
    const int left = 4 * (words - 4 * (64 * tile + t));
    const int bytes = left < 0 ? 0 : left > 16 ? 16 : left;
    const u32* from = bytes == 0 ? in : in + 4 * (64 * tile + t);
    if (tile < tiles) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(&ring[tile % 3][4 * t])), "l"(from), "r"(bytes) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  u32 sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fetch(tile + 2);
    for (int k = 0; k < 4; ++k) sum = sum * 31 + ring[tile % 3][(4 * (63 - t) + k)];
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = sum;
}

KERNEL memory_async_sizes(const u8* in, u32* out) {
  __shared__ __align__(16) u8 tile[3][32 * 16];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[0][16 * t + 4 * k])), "l"(in + 16 * t + 4 * (3 - k)) : "memory");
  for (int k = 0; k < 2; ++k) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(&tile[1][16 * t + 8 * k])), "l"(in + 16 * t + 8 * (1 - k)), "r"(t % 9) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_address(&tile[2][16 * t])), "l"(in + 16 * (31 - t)) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int k = 0; k < 3; ++k)
    for (int w = 0; w < 4; ++w) out[(k * 32 + t) * 4 + w] = reinterpret_cast<const u32*>(tile[k])[4 * (31 - t) + w];
}

// One warp fills shared memory and another warp reads it; mbarriers synchronise them.
KERNEL memory_mbarrier_pipeline(const u32* in, u32* out, int rounds) {
  __shared__ __align__(8) u64 full[2];
  __shared__ __align__(8) u64 empty[2];
  __shared__ u32 slot[2][32];
  const int lane = threadIdx.x % 32;
  const bool producer = threadIdx.x < 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&empty[s])) : "memory");
    }
  __syncthreads();
  auto wait = [](const u64* barrier, u32 parity) {
    u32 done = 0;
    while (!done)
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  };
  u32 sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const int s = r % 2;
    const u32 phase = r / 2 % 2;
    if (producer) {
      if (r >= 2) wait(&empty[s], phase ^ 1);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&slot[s][lane])), "l"(in + 32 * r + lane) : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full[s])) : "memory");
    } else {
      wait(&full[s], phase);
      sum = sum * 17 + slot[s][(lane + r) % 32];
      asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(shared_address(&empty[s])) : "memory");
    }
  }
  if (producer) asm volatile("cp.async.wait_all;" ::: "memory");
  if (!producer) out[lane] = sum;
}

KERNEL memory_matrices(const u16* in, u32* out) {
  __shared__ __align__(16) u16 tile[32 * 8];
  __shared__ __align__(16) u16 back[2][32 * 8];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) {
    tile[i] = in[i];
    back[0][i] = back[1][i] = 0;
  }
  __syncwarp();
  const u32 row = shared_address(tile + 8 * t);
  u32 r[7];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(row) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[1]), "=r"(r[2]) : "r"(row) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]) : "r"(row) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(back[0] + 8 * t)), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(back[1] + 8 * t)), "r"(r[5]), "r"(r[1]) : "memory");
  u32 moved;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(r[4]));
  __syncwarp();
  for (int k = 0; k < 7; ++k) out[32 * k + t] = r[k];
  out[32 * 7 + t] = moved;
  for (int k = 0; k < 8; ++k) out[32 * (8 + k) + t] = reinterpret_cast<const u32*>(back)[32 * k + t];
}
