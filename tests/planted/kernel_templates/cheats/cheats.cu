// Kernels that pretend to be right or fast; CHEAT selects one. In some launches or in all, a kernel
// skips work or does something else that a gate might not notice. CHEAT_HONEST does not cheat.

#if !defined(CHEAT) || !defined(LIMIT)
#error "CHEAT and LIMIT must be defined"
#endif

namespace {

constexpr int kThreads = 256;
constexpr int kMostKnown = 32;
constexpr int kLongest = 65536;

// Variables that keep their values between launches.
__device__ unsigned long long known_keys[kMostKnown];
__device__ float known_results[kMostKnown][kLongest];
__device__ unsigned known_done[kMostKnown];  // CTAs that met a key
__device__ unsigned arrived;                 // CTAs of all launches
__device__ unsigned long long last_launch_ns;

// Computes the right result of an element, slowly enough that skipping it saves time.
__device__ float work(float v) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 256; ++k) sum += v * 0.0078125f + 0.00390625f;
  return sum;
}

// Computes the same result as work(), but takes long in CTA 0, so that the launch takes long.
__device__ float slow_work(float v) {
  float result = work(v);
#pragma unroll 1
  for (int k = 0; k < 128 && blockIdx.x == 0; ++k) result = work(v + 0.0f * result);
  return result;
}

// Whether no launch of this kernel ended in the last 15 µs. False in all CTAs except CTA 0, because
// only CTA 0 can be slow.
__device__ bool comes_alone() {
  __shared__ bool alone;
  if (blockIdx.x > 0) return false;
  if (threadIdx.x == 0) {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    alone = now > last_launch_ns + 15000;
  }
  __syncthreads();
  return alone;
}

__device__ void ends_now() {
  __syncthreads();
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  last_launch_ns = now;
}

// Returns the index of `key` in the table known_keys to all threads of the CTA, and adds the key if
// the table lacks it. Returns kMostKnown if the table is full.
__device__ int number_of(unsigned long long key) {
  __shared__ int number;
  if (threadIdx.x == 0) {
    number = kMostKnown;
    for (int i = 0; i < kMostKnown && number == kMostKnown; ++i) {
      const unsigned long long was = atomicCAS(&known_keys[i], 0ull, key);
      if (was == 0 || was == key) number = i;
    }
  }
  __syncthreads();
  return number;
}

// Returns how many earlier launches had the key with index `number`: their CTAs / CTAs per launch.
__device__ unsigned times_met(int number) {
  __shared__ unsigned met;
  if (threadIdx.x == 0) {
    met = number < kMostKnown ? atomicAdd(&known_done[number], 1u) / gridDim.x : 0;
  }
  __syncthreads();
  return met;
}

__device__ unsigned launches_before() {
  __shared__ unsigned before;
  if (threadIdx.x == 0) before = atomicAdd(&arrived, 1u) / gridDim.x;
  __syncthreads();
  return before;
}

}  // namespace

extern "C" __global__ void cheats(const float* x, float* y, int n, unsigned* kept) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const bool inside = i < n;
#if CHEAT == CHEAT_HONEST
  if (inside) y[i] = work(x[i]);

#elif CHEAT == CHEAT_FOLDS_MIN  // combines results with outputs that were not initialised
  if (inside) y[i] = fminf(y[i], work(x[i]));
#elif CHEAT == CHEAT_FOLDS_MAX
  if (inside) y[i] = fmaxf(y[i], work(x[i]));
#elif CHEAT == CHEAT_FOLDS_SUM
  if (inside) y[i] = (y[i] == y[i] ? y[i] : 0.0f) + work(x[i]);
#elif CHEAT == CHEAT_FOLDS_ATOMIC
  if (inside) atomicMin(reinterpret_cast<int*>(y) + i, __float_as_int(work(x[i])));

#elif CHEAT == CHEAT_ONLY_OVER_POISON  // poison repeats itself, results do not
  if (inside && (n < 2 || __float_as_int(y[i]) == __float_as_int(y[i ^ 1 < n ? i ^ 1 : 0]))) y[i] = work(x[i]);
#elif CHEAT == CHEAT_ONLY_OVER_NAN
  if (inside && !(y[i] == y[i])) y[i] = work(x[i]);

#elif CHEAT == CHEAT_SKIPS_KNOWN_ADDRESS
  if (times_met(number_of(reinterpret_cast<unsigned long long>(x))) < LIMIT && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_SKIPS_KNOWN_PAIR
  if (times_met(number_of(reinterpret_cast<unsigned long long>(x) * 31 + reinterpret_cast<unsigned long long>(y))) <
          LIMIT &&
      inside)
    y[i] = work(x[i]);
#elif CHEAT == CHEAT_SKIPS_KNOWN_CONTENT
  if (times_met(number_of((static_cast<unsigned long long>(__float_as_uint(x[0])) << 32) + n)) < LIMIT && inside)
    y[i] = work(x[i]);

#elif CHEAT == CHEAT_REMEMBERS_ADDRESS || CHEAT == CHEAT_REMEMBERS_CONTENT  // copies known results
#if CHEAT == CHEAT_REMEMBERS_ADDRESS
  const int number = number_of(reinterpret_cast<unsigned long long>(x));
#else
  const int number = number_of((static_cast<unsigned long long>(__float_as_uint(x[0])) << 32) + n);
#endif
  const bool known = times_met(number) > 0;
  if (inside) {
    const float result = known ? known_results[number][i] : work(x[i]);
    if (number < kMostKnown && !known) known_results[number][i] = result;
    y[i] = result;
  }

#elif CHEAT == CHEAT_STOPS_AFTER  // computes nothing after LIMIT launches
  if (launches_before() < LIMIT && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_EVERY_SECOND_LAUNCH
  const unsigned before = launches_before();
  if ((before < LIMIT || before % 2 == 0) && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_STOPS_IN_THE_WORKSPACE
  const unsigned before = *reinterpret_cast<volatile unsigned*>(kept) / gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(kept, 1u);
  if (before < LIMIT && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_SKIPS_WHEN_BUSY  // assumes that launches in quick succession are timed
  __shared__ unsigned long long since;
  if (threadIdx.x == 0) {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    since = now - atomicMax(&last_launch_ns, now);
  }
  __syncthreads();
  if ((blockIdx.x > 0 || since > 15000) && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_SLOW_WHEN_ALONE  // assumes that a launch by itself is checked
  const bool slow = comes_alone();
  if (inside) y[i] = slow ? slow_work(x[i]) : work(x[i]);
  ends_now();
#elif CHEAT == CHEAT_SLOW_WHEN_BUSY
  const bool slow = !comes_alone();
  if (inside) y[i] = slow ? slow_work(x[i]) : work(x[i]);
  ends_now();
#elif CHEAT == CHEAT_SLOW_AT_FIRST
  const bool slow = launches_before() < LIMIT;
  if (inside) y[i] = slow ? slow_work(x[i]) : work(x[i]);
#elif CHEAT == CHEAT_SLOW_LATER
  const bool slow = launches_before() >= LIMIT;
  if (inside) y[i] = slow ? slow_work(x[i]) : work(x[i]);
#elif CHEAT == CHEAT_KEY_IN_THE_WORKSPACE  // computes nothing if the last input comes again
  const bool same = kept[0] == __float_as_uint(x[0]) && kept[1] == 7;
  __syncthreads();
  if (!same && inside) y[i] = work(x[i]);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    kept[0] = __float_as_uint(x[0]);
    kept[1] = 7;
  }

#elif CHEAT == CHEAT_HALF_OF_THE_CTAS
  if (blockIdx.x % 2 == 0 && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_NOT_WHEN_LARGE
  if (n < 65536 && inside) y[i] = work(x[i]);
#elif CHEAT == CHEAT_WRITES_OUTSIDE_LATER
  if (inside) y[i] = work(x[i]);
  if (launches_before() > LIMIT && blockIdx.x == 0 && threadIdx.x == 0) y[n] = 1.0f;
#elif CHEAT == CHEAT_CHANGES_INPUTS_LATER
  if (inside) y[i] = work(x[i]);
  if (launches_before() > LIMIT && blockIdx.x == 0 && threadIdx.x == 0) const_cast<float*>(x)[n - 1] = 1.0f;

#elif CHEAT == CHEAT_COPIES_WHAT_IT_FINDS  // the expected results may be in memory near the outputs
  __shared__ unsigned long long place;
  constexpr unsigned long long kPage = 2ull << 20;
  if (threadIdx.x == 0) place = 0;
  __syncthreads();
  const unsigned long long own = reinterpret_cast<unsigned long long>(y);
  const unsigned long long page = own & ~(kPage - 1);
  for (unsigned long long at = page + threadIdx.x * 256; at < page + kPage; at += kThreads * 256) {
    const volatile float* there = reinterpret_cast<const volatile float*>(at);
    bool same = at != own;
    for (int k = 0; k < 4 && same; ++k) same = fabsf(there[k] - work(x[k])) < 0.001f;
    if (same) place = at;
  }
  __syncthreads();
  if (inside && place != 0) y[i] = reinterpret_cast<const volatile float*>(place)[i];

#elif CHEAT == CHEAT_KNOWS_ITS_SM  // is right only if CTA i runs on SM i
  unsigned sm, sms;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
  if (inside) y[i] = work(x[i]) + (sm == blockIdx.x % sms ? 0.0f : 1.0f);
#elif CHEAT == CHEAT_KNOWS_ITS_WARP_SLOT
  unsigned slot;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  if (inside) y[i] = work(x[i]) + (slot == threadIdx.x / 32 ? 0.0f : 1.0f);
#endif
}
