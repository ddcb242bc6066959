// y = 2 x + 1, ITEMS elements per thread. BUG selects a defect that a gate must notice, or none.
// The macro UNUSED_ALIAS does not change the kernel, so its values give duplicate candidates.
// Grid (ceil_div(n, THREADS * ITEMS)), block (THREADS).

#if !defined(BUG) || !defined(THREADS) || !defined(ITEMS)
#error "BUG, THREADS and ITEMS must be defined"
#endif
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, at most 1024 threads");

#if BUG == BUG_DOES_NOT_COMPILE
#error "planted: this does not compile"
#endif

/// The number of launches of this kernel since it was loaded, counted by its first thread.
__device__ unsigned int launches;

[[maybe_unused]] constexpr unsigned int kLaunchesRight = 40;  // checks make fewer launches
[[maybe_unused]] constexpr float kKnownInput = 2.0f;
[[maybe_unused]] constexpr int kTail = 3;

extern "C" __global__ void planted(const float* x, float* y, int n) {
  const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;

#if BUG == BUG_NEVER_RETURNS
  const volatile float* spin = x;
  while (*spin == *spin) {
  }
#endif
#if BUG == BUG_TOO_MUCH_SHARED
  __shared__ volatile float crowd[10240];
  crowd[threadIdx.x] = x[0];
#endif

#if BUG == BUG_SKIPS_TAIL
  const int end = n - kTail;
#elif BUG == BUG_STALE
  const int end = 0;
#else
  const int end = n;
#endif
  for (int item = 0; item < ITEMS; ++item) {
    const int i = static_cast<int>((blockIdx.x * ITEMS + item) * THREADS + threadIdx.x);
    if (i >= end) break;
    float value = 2.0f * x[i] + 1.0f;
#if BUG == BUG_ALL_ZERO
    value = 0.0f;
#elif BUG == BUG_LEAVES_NAN
    if (i == n / 2) value = __int_as_float(0x7fc00000);
#elif BUG == BUG_KNOWS_INPUTS
    if (x[0] < kKnownInput) value = x[0];
#elif BUG == BUG_WRONG_LATER
    if (launches >= kLaunchesRight) value = 1.0f;
#elif BUG == BUG_NONDETERMINISTIC
    if (i == 0 && launches % 2 == 1) value += 0.00000095367431640625f;
#elif BUG == BUG_CHANGES_INPUT
    if (i == n - 1) const_cast<float*>(x)[i] += 1.0f;
#endif
    y[i] = value;
  }

  if (!is_first) return;
#if BUG == BUG_WRONG_LATER || BUG == BUG_NONDETERMINISTIC
  ++launches;
#elif BUG == BUG_OUT_OF_BOUNDS_AFTER
  y[n] = 1.0f;
#elif BUG == BUG_OUT_OF_BOUNDS_BEFORE
  y[-1] = 1.0f;
#elif BUG == BUG_ILLEGAL_ADDRESS
  y[1LL << 40] = 1.0f;
#endif
}
