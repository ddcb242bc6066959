// Kernels with cooperative groups, which run 4 CTAs of 64 threads and compute out[i] = 2 * in[i]
// for 256 floats. With BUG, threads that exchange data do not synchronise.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr unsigned kThreads = 64;

#ifdef BUG
#define IF_RIGHT(statement)
#define IF_BUG(statement) statement
#else
#define IF_RIGHT(statement) statement
#define IF_BUG(statement)
#endif
#define KERNEL(name) \
  extern "C" __global__ void __launch_bounds__(kThreads) name(const float* in, float* out)

__device__ float of_all[256];

/// Initialises the data, so that a read that comes too early is a race, not uninitialised data.
template <typename T, unsigned kCount>
__device__ void clear(T (&values)[kCount]) {
  if (threadIdx.x < kCount) values[threadIdx.x] = 0;
  __syncthreads();
}

__device__ unsigned place() { return blockIdx.x * kThreads + threadIdx.x; }

// Each lane of a tile passes its value to the lane at the mirrored position by shared memory.
template <unsigned kLanes>
__device__ void share(const float* in, float* out) {
  __shared__ float values[kThreads];
  clear(values);
  const auto tile = cg::tiled_partition<kLanes>(cg::this_thread_block());
  values[threadIdx.x] = in[place()];
  IF_RIGHT(tile.sync();)
  const unsigned other = threadIdx.x ^ (kLanes - 1);
  out[blockIdx.x * kThreads + other] = 2 * values[other];
}
KERNEL(tile_of_2) { share<2>(in, out); }
KERNEL(tile_of_4) { share<4>(in, out); }
KERNEL(tile_of_8) { share<8>(in, out); }
KERNEL(tile_of_16) { share<16>(in, out); }
KERNEL(tile_of_32) { share<32>(in, out); }

// Sums a 1 from each lane of a tile; the previous tile reads the sum from shared memory.
template <unsigned kLanes>
__device__ void add_up(const float* in, float* out) {
  __shared__ int sums[kThreads / kLanes];
  clear(sums);
  const auto tile = cg::tiled_partition<kLanes>(cg::this_thread_block());
  const int sum = cg::reduce(tile, 1, cg::plus<int>());
  const int before = cg::exclusive_scan(tile, 1);
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
  IF_RIGHT(__syncthreads();)
  const int there = sums[(tile.meta_group_rank() + 1) % (kThreads / kLanes)];
  const bool is_good = there == kLanes && before == static_cast<int>(tile.thread_rank());
  out[place()] = is_good ? 2 * in[place()] : -1;
}
KERNEL(sum_of_8) { add_up<8>(in, out); }
KERNEL(sum_of_16) { add_up<16>(in, out); }
KERNEL(sum_of_32) { add_up<32>(in, out); }

// Partitions a tile into smaller tiles.
KERNEL(tiles_within_tiles) {
  __shared__ float values[kThreads];
  clear(values);
  const auto outer = cg::tiled_partition<16>(cg::this_thread_block());
  const auto inner = cg::tiled_partition<4>(outer);
  values[threadIdx.x] = in[place()];
  inner.sync();
  float value = values[threadIdx.x ^ 3];
  IF_RIGHT(outer.sync();)
  IF_BUG(inner.sync();)
  values[threadIdx.x ^ 15] = value;
  outer.sync();
  out[blockIdx.x * kThreads + (threadIdx.x ^ 12)] = 2 * values[threadIdx.x];
}

// Partitions a group into tiles whose size is only known at run time.
KERNEL(tile_of_any_size) {
  __shared__ float values[kThreads];
  clear(values);
  const auto tile = cg::tiled_partition(cg::this_thread_block(), blockDim.x / 8);
  values[threadIdx.x] = in[place()];
  IF_RIGHT(tile.sync();)
  const unsigned other = threadIdx.x ^ 7;
  out[blockIdx.x * kThreads + other] = 2 * values[other];
}

// Each tile consists of two warps.
KERNEL(tile_of_two_warps) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  __shared__ float values[kThreads];
  clear(values);
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  values[threadIdx.x] = in[place()];
  IF_RIGHT(tile.sync();)
  const unsigned other = threadIdx.x ^ 63;
  out[blockIdx.x * kThreads + other] = 2 * values[other];
}

// Every third thread of a warp belongs to a coalesced group.
KERNEL(coalesced) {
  __shared__ float values[kThreads];
  clear(values);
  if (threadIdx.x % 3 == 0) {
    const auto group = cg::coalesced_threads();
    values[threadIdx.x] = in[place()];
    IF_RIGHT(group.sync();)
    const unsigned first = threadIdx.x / 32 * 32 + (threadIdx.x < 32 ? 0 : 1);
    const float there = values[first];
    const float shuffled = group.shfl(in[place()], 0);
    out[place()] = there == shuffled ? 2 * in[place()] : -1;
  } else {
    out[place()] = 2 * in[place()];
  }
}

KERNEL(labeled) {
  __shared__ int counts[kThreads];
  clear(counts);
  const unsigned label = threadIdx.x % 5;
  const auto group = cg::labeled_partition(cg::coalesced_threads(), label);
  const int count = cg::reduce(group, 1, cg::plus<int>());
  if (group.thread_rank() == 0) counts[threadIdx.x / 32 * 32 + label] = count;
  IF_RIGHT(group.sync();)
  const int there = counts[threadIdx.x / 32 * 32 + label];
  out[place()] = there == static_cast<int>(group.size()) ? 2 * in[place()] : -1;
}

KERNEL(binary) {
  __shared__ int counts[4];
  clear(counts);
  const bool is_odd = threadIdx.x % 2 != 0;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::binary_partition(warp, is_odd);
  int* mine = &counts[threadIdx.x / 32 * 2 + (is_odd ? 1 : 0)];
  if (group.thread_rank() == 0) *mine = static_cast<int>(group.size());
  IF_RIGHT(group.sync();)
  out[place()] = *mine == 16 ? 2 * in[place()] : -1;
}

KERNEL(copied) {
  __shared__ float values[kThreads];
  clear(values);
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, values, in + blockIdx.x * kThreads, sizeof(values));
  IF_RIGHT(cg::wait(block);)
  const unsigned other = threadIdx.x ^ 37;
  const float there = values[other];
  IF_BUG(cg::wait(block);)
  out[blockIdx.x * kThreads + other] = 2 * there;
}

KERNEL(copied_by_two) {
  __shared__ float values[2][kThreads];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, values[0], in + blockIdx.x * kThreads, sizeof(values[0]));
  cg::memcpy_async(block, values[1], in + blockIdx.x * kThreads, sizeof(values[1]));
  cg::wait_prior<1>(block);
  IF_BUG(out[place()] = values[1][threadIdx.x ^ 1];)
  const float first = values[0][threadIdx.x];
  cg::wait(block);
  out[place()] = first + values[1][threadIdx.x];
}

KERNEL(arrived_at) {
  __shared__ float values[kThreads];
  clear(values);
  auto block = cg::this_thread_block();
  values[threadIdx.x] = in[place()];
  auto token = block.barrier_arrive();
  IF_RIGHT(block.barrier_wait(static_cast<decltype(token)&&>(token));)
  const unsigned other = threadIdx.x ^ 33;
  const float there = values[other];
  IF_BUG(block.barrier_wait(static_cast<decltype(token)&&>(token));)
  out[blockIdx.x * kThreads + other] = 2 * there;
}

KERNEL(grid) {
  of_all[place()] = in[place()];
  IF_RIGHT(cg::this_grid().sync();)
  const unsigned other = 255 - place();
  const float there = of_all[other];
  IF_BUG(cg::this_grid().sync();)
  out[other] = 2 * there;
}

KERNEL(grid_again_and_again) {
  const auto all = cg::this_grid();
  float value = in[place()];
  for (int round = 0; round < 4; ++round) {
    of_all[place()] = value;
    all.sync();
    IF_BUG(if (round == 3) break;)
    value = of_all[place() ^ 129];
    all.sync();
  }
  IF_BUG(value = of_all[place() ^ 129]; of_all[place()] = 0;)
  out[place()] = 2 * value;
}
