// Kernels that store in different ways. All kernels have the same parameters and a grid of {6, 4}
// CTAs of 64 threads; `out` has 4096 floats, and `in` 4096 ints (in[i] = 4095 - i).
#include <cuda_fp16.h>
#include <mma.h>

#define KERNEL(name) extern "C" __global__ void name(const int* __restrict__ in, float* out, int n)

__device__ int cta() { return blockIdx.y * gridDim.x + blockIdx.x; }
__device__ int own() { return cta() * 64 + threadIdx.x; }

// --- kernels that write_map() traces, except lost_in_remainder and lost_in_quotient ---

KERNEL(plain) { out[own()] = static_cast<float>(in[own()]); }

KERNEL(strided) {
  for (int i = own(); i < n; i += gridDim.x * gridDim.y * 64) out[i] = 1.0f;
}

KERNEL(long_loop_for_the_value) {
  float sum = 0;
  for (int i = 0; i < in[own()]; ++i) sum += __sinf(sum + i);
  out[own()] = sum;
}

KERNEL(guarded) {
  if (own() >= n / 3) return;
  out[own()] = 1.0f;
}

KERNEL(every_seventh_is_idle) {
  if (cta() % 7 == 3) return;
  out[own()] = 1.0f;
}

KERNEL(lost_in_remainder) { out[cta() % 20 * 64 + threadIdx.x] = 1.0f; }

KERNEL(lost_in_quotient) { out[cta() / 3 * 3 * 64 + threadIdx.x] = 1.0f; }

KERNEL(by_shuffled_warp) {
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  out[cta() * 64 + warp * 32 + threadIdx.x % 32] = 1.0f;
}

KERNEL(wide) {
  if (threadIdx.x >= 16) return;
  reinterpret_cast<float4*>(out)[cta() * 16 + threadIdx.x] = make_float4(1, 2, 3, 4);
}

KERNEL(bytes) {
  char* to = reinterpret_cast<char*>(out) + own() * 4;
  for (int i = 0; i < 3; ++i) to[i] = static_cast<char>(i);
}

KERNEL(two_branches) {
  if (threadIdx.x % 3 == 0)
    out[own()] = 1.0f;
  else
    out[2048 + own()] = 2.0f;
}

KERNEL(cases) {
  switch (cta() % 6) {
    case 0: out[own()] = 1.0f; break;
    case 1: out[1601 + own()] = 1.0f; break;
    case 2:
      if (threadIdx.x % 2 == 0) out[own() ^ 62] = 3.0f;
      break;
    case 3: out[own() + 3] = 1.0f; out[own() + 2112] = 2.0f; break;
    case 4: return;
    default: out[4095 - own()] = 7.0f;
  }
}

KERNEL(permuted_by_input) { out[in[own()]] = 1.0f; }

KERNEL(decided_by_input) {
  if (in[own()] % 5 == 0) out[own()] = 1.0f;
}

KERNEL(local_table) {
  int table[8];
  for (int i = 0; i < 8; ++i) table[i] = i * 3 + in[i] % 2;
  if (threadIdx.x < 8) out[cta() * 64 + table[(threadIdx.x * 5 + cta()) % 8]] = 1.0f;
}

KERNEL(carried) {
  unsigned low, high;
  const unsigned base = 0xfffffff0u, step = threadIdx.x;
  asm("add.cc.u32 %0, %2, %3;\n addc.u32 %1, 0, 0;" : "=r"(low), "=r"(high) : "r"(base), "r"(step));
  out[cta() * 64 + high * 32 + threadIdx.x % 32] = 1.0f;
}

KERNEL(by_a_generic_address) {
  asm volatile("st.f32 [%0], %1;" ::"l"(out + own()), "f"(1.0f) : "memory");
}

KERNEL(predicated) {
  int place = own();
  asm("{.reg .pred p; setp.gt.s32 p, %1, 40; @p mov.s32 %0, %2;}"
      : "+r"(place)
      : "r"(threadIdx.x), "r"(own() + 2000));
  out[place] = 1.0f;
}

// A predicated instruction may leave its result register unchanged, so the register's previous
// value stays live.
KERNEL(left_by_a_predicate) {
  const int before = own();
  int place = before;
  asm volatile("{.reg .pred p; setp.gt.s32 p, %1, 40; @p mov.s32 %0, %2;}"
               : "+r"(place)
               : "r"(threadIdx.x), "r"(before + 1536));
  out[place] = 1.0f;
  out[3072 + before / 4] = 1.0f;
}

KERNEL(by_a_table_of_branches) {
  int place;
  asm("{T: .branchtargets A, B, C; mov.s32 %0, 9; brx.idx %1, T;\n"
      "A: mov.s32 %0, 64; bra E;\nB: mov.s32 %0, 0; bra E;\nC: mov.s32 %0, 1600;\nE:}"
      : "=r"(place)
      : "r"(cta() % 3));
  if (cta() % 3 != 1) out[own() + place] = 1.0f;
}

KERNEL(until_it_is_large) {
  float sum = 1;
  asm("{.reg .pred p; L: mul.f32 %0, %0, %1; setp.gt.f32 p, %0, 0f42C80000; @!p bra L;}"
      : "+f"(sum)
      : "f"(2.0f + in[own()]));
  out[own()] = sum;
}

KERNEL(while_it_is_small) {
  float sum = 1;
  asm("{.reg .pred p; M: setp.gt.f32 p, %0, 0f42C80000; @p bra OUT; mul.f32 %0, %0, %1; bra M; OUT:}"
      : "+f"(sum)
      : "f"(2.0f + in[own()]));
  out[own()] = sum;
}

KERNEL(by_fragments) {
  if (threadIdx.x >= 32 || cta() >= 16) return;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
  nvcuda::wmma::fill_fragment(sums, 1.0f);
  nvcuda::wmma::store_matrix_sync(out + cta() * 256, sums, 16, nvcuda::wmma::mem_row_major);
}

KERNEL(reductions_of_its_own) {
  if (threadIdx.x >= 40) return;
  out[own()] = 0.0f;
  atomicAdd(&out[own()], 1.0f);
}

__device__ __noinline__ void put(float* to, int at, float value) {
  if (at % 2 == 0) to[at] = value;
}
KERNEL(by_a_function) { put(out, own(), 1.0f); }

KERNEL(compacted_by_votes) {
  const bool takes = threadIdx.x % 3 == 1;
  const unsigned mask = __ballot_sync(0xffffffffu, takes);
  const int before = __popc(mask & ((1u << (threadIdx.x % 32)) - 1));
  if (takes) out[cta() * 64 + threadIdx.x / 32 * 32 + before] = 1.0f;
}

KERNEL(values_by_shared_memory) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(in[own()]);
  __syncthreads();
  out[own()] = tile[63 - threadIdx.x];
}

KERNEL(values_by_generic_addresses) {
  __shared__ float tile[64];
  asm volatile("st.f32 [%0], %1;" ::"l"(tile + threadIdx.x), "f"(2.0f) : "memory");
  __syncthreads();
  out[own()] = tile[63 - threadIdx.x];
}

KERNEL(every_other_to_shared_memory) {
  __shared__ float tile[64];
  float* to = threadIdx.x % 2 != 0 ? tile + threadIdx.x : out + own();
  asm volatile("st.f32 [%0], %1;" ::"l"(to), "f"(1.0f) : "memory");
}

KERNEL(trip_count_by_input) {
  if (cta() >= 15) return;
  for (int i = 0; i < 1 + in[cta()] % 4; ++i) {
    if (i == 2 && threadIdx.x == 5) break;
    out[i * 1024 + own() + 2] = 1.0f;
  }
}

KERNEL(by_a_pointer_of_a_choice) {
  float* to = cta() % 2 ? out : out + 2048;
  *(to + own()) = 1.0f;
}

// --- kernels that write_map() cannot trace, or in which CTAs write the same bytes ---

KERNEL(place_by_shared_memory) {
  __shared__ int places[64];
  places[threadIdx.x] = in[threadIdx.x] % 64;
  __syncthreads();
  out[cta() * 64 + places[63 - threadIdx.x]] = 1.0f;
}

KERNEL(place_by_output) {
  const int last = static_cast<int>(out[own()]);
  out[cta() * 64 + last % 64] = 1.0f;
}

__device__ unsigned claimed;
KERNEL(place_by_claim) { out[atomicAdd(&claimed, 1u) % 4096] = 1.0f; }

KERNEL(place_by_clock) { out[own() / 2 + clock64() % 2] = 1.0f; }

KERNEL(overlapping) { out[own() + (threadIdx.x == 63)] = 1.0f; }

KERNEL(reductions_together) { atomicAdd(&out[threadIdx.x], 1.0f); }

__device__ int seen[64];
KERNEL(elsewhere_too) {
  seen[threadIdx.x] = 1;
  out[own()] = 1.0f;
}
