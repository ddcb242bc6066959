// Kernels that may start while the previous one runs, except only_lets_go. BUG 0: all are correct.
#ifndef BUG
#define BUG 0
#endif

#define WAIT asm volatile("griddepcontrol.wait;" ::: "memory")
#define LET_GO asm volatile("griddepcontrol.launch_dependents;")

__constant__ int offsets[2] = {0, 5};

extern "C" __global__ void every_thread(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int added = offsets[1];
  LET_GO;
#if BUG == 1
  const int value = x[i];
  WAIT;
#elif BUG == 2
  if (threadIdx.x < 32) WAIT;
  const int value = x[i];
#elif BUG == 3
  const int value = 7;
  y[i] = value;
  WAIT;
#else
  WAIT;
  const int value = x[i];
#endif
  y[i] = value + added;
}

extern "C" __global__ void one_thread_and_a_barrier(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 40) WAIT;
#if BUG == 1
  __syncwarp();
#else
  __syncthreads();
#endif
  y[i] = x[i];
}

// One lane executes griddepcontrol.wait; the other lanes of its warp synchronise with this lane by
// __syncwarp.
extern "C" __global__ void one_lane(const int* x, int* y) {
  if (threadIdx.x % 32 == 3) WAIT;
#if BUG == 0
  __syncwarp();
#elif BUG == 1
  if (threadIdx.x % 32 < 16) __syncwarp(0xffff);
#endif
  y[threadIdx.x] = x[threadIdx.x];
}

__device__ void arrive(unsigned barrier) {
  asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(barrier) : "memory");
}

__device__ void wait_for(unsigned barrier) {
  asm volatile(
      "{.reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;}" ::"r"(barrier)
      : "memory");
}

// Thread 0 executes griddepcontrol.wait, then arrives at the mbarrier for which the other warp
// waits.
extern "C" __global__ void mbarrier(const int* x, int* y) {
  __shared__ unsigned long long object;
  const unsigned barrier = (unsigned)__cvta_generic_to_shared(&object);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
#if BUG == 1
    arrive(barrier);
    WAIT;
#else
    WAIT;
    arrive(barrier);
#endif
  }
  if (threadIdx.x >= 32) wait_for(barrier);
  if (threadIdx.x >= 32) y[threadIdx.x] = x[threadIdx.x];
}

// Thread 0 starts a bulk copy; all threads wait until the copy has arrived.
extern "C" __global__ void bulk_copy(const int* x, int* y) {
  __shared__ __align__(16) int tile[64];
  __shared__ unsigned long long object;
  const unsigned barrier = (unsigned)__cvta_generic_to_shared(&object);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("{.reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], 256;}" ::"r"(barrier)
                 : "memory");
#if BUG == 0
    WAIT;
#endif
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::
            "r"((unsigned)__cvta_generic_to_shared(tile)),
        "l"(x), "r"(barrier)
        : "memory");
#if BUG == 1
    WAIT;
#endif
  }
  wait_for(barrier);
  y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void asynchronous_copy(const int* x, int* y) {
  __shared__ int tile[64];
#if BUG == 0
  WAIT;
#endif
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.wait_all;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(tile + threadIdx.x)),
               "l"(x + threadIdx.x)
               : "memory");
#if BUG == 1
  WAIT;
#endif
  y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void texture(cudaTextureObject_t x, int* y) {
#if BUG == 0
  WAIT;
#endif
  const int value = tex1Dfetch<int>(x, threadIdx.x);
#if BUG == 1
  WAIT;
#endif
  y[threadIdx.x] = value;
}

// Threads from index 40 on exit without griddepcontrol.wait, because they access no memory.
extern "C" __global__ void some_leave(const int* x, int* y) {
  if (threadIdx.x >= 40) return;
  WAIT;
  y[threadIdx.x] = x[threadIdx.x];
}

// A kernel without griddepcontrol.wait gets an ordinary launch, so no access is too early.
extern "C" __global__ void only_lets_go(const int* x, int* y) {
  const int value = x[threadIdx.x];
  LET_GO;
  y[threadIdx.x] = value;
}
