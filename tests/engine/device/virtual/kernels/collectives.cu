// Collectives of CUB over 128 threads. Each kernel computes out[i] = 2 * in[i], where `in` has 128
// floats with whole values from 0 to 127. With BUG, data of a collective are accessed before all
// threads have finished the collective.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/radix_rank_sort_operations.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>

constexpr int kThreads = 128;

#define KERNEL(name) \
  extern "C" __global__ void __launch_bounds__(kThreads) name(const float* in, float* out)

// Called between two collectives that use the same temporary storage. The wrong version overwrites
// the storage instead of waiting at a barrier.
template <typename Storage>
__device__ void between(Storage& storage) {
#ifdef BUG
  constexpr unsigned kWords = sizeof(Storage) / sizeof(int);
  for (unsigned i = threadIdx.x; i < kWords; i += kThreads)
    reinterpret_cast<int*>(&storage)[(i + 37) % kWords] = 0;
#else
  __syncthreads();
#endif
}
template <int kLanes, typename Storage>
__device__ void between_lanes(Storage& storage) {
#ifdef BUG
  constexpr unsigned kWords = sizeof(Storage) / sizeof(int);
  for (unsigned i = threadIdx.x % kLanes; i < kWords; i += kLanes)
    reinterpret_cast<int*>(&storage)[(i + 1) % kWords] = 0;
#else
  __syncwarp();
#endif
}
__device__ void between_lanes() {
#ifndef BUG
  __syncwarp();
#endif
}
__device__ float right(const float* in, bool is_right) {
  return is_right ? 2 * in[threadIdx.x] : -1;
}
struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
struct Unequal {
  __device__ bool operator()(int a, int b) const { return a != b; }
};

template <cub::BlockReduceAlgorithm kAlgorithm>
__device__ void reduce(const float* in, float* out) {
  using Collective = cub::BlockReduce<float, kThreads, kAlgorithm>;
  __shared__ typename Collective::TempStorage storage;
  __shared__ float sums[2];
  const float sum = Collective(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) sums[0] = sum;
  between(storage);
  const float largest = Collective(storage).Reduce(in[threadIdx.x], [](float a, float b) {
    return a > b ? a : b;
  });
  if (threadIdx.x == 0) sums[1] = largest;
  __syncthreads();
  out[threadIdx.x] = right(in, sums[0] == 8128 && sums[1] == 127);
}
KERNEL(reduce_raking) { reduce<cub::BLOCK_REDUCE_RAKING>(in, out); }
KERNEL(reduce_commutative) { reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out); }
KERNEL(reduce_warps) { reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, out); }

template <cub::BlockScanAlgorithm kAlgorithm>
__device__ void scan(const float* in, float* out) {
  using Collective = cub::BlockScan<int, kThreads, kAlgorithm>;
  __shared__ typename Collective::TempStorage storage;
  const int value = static_cast<int>(in[threadIdx.x]);
  int before = 0;
  int with = 0;
  int all = 0;
  Collective(storage).ExclusiveSum(value, before, all);
  between(storage);
  Collective(storage).InclusiveSum(value, with);
  out[threadIdx.x] = right(in, before + value == with && all == 8128);
}
KERNEL(scan_raking) { scan<cub::BLOCK_SCAN_RAKING>(in, out); }
KERNEL(scan_memoize) { scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(in, out); }
KERNEL(scan_warps) { scan<cub::BLOCK_SCAN_WARP_SCANS>(in, out); }

KERNEL(exchange) {
  using Collective = cub::BlockExchange<float, kThreads, 2>;
  __shared__ typename Collective::TempStorage storage;
  float values[2] = {in[threadIdx.x], in[threadIdx.x]};
  Collective(storage).BlockedToStriped(values);
  between(storage);
  Collective(storage).StripedToBlocked(values);
  out[threadIdx.x] = values[0] + values[1];
}
KERNEL(exchange_scatter) {
  using Collective = cub::BlockExchange<float, kThreads, 1>;
  __shared__ typename Collective::TempStorage storage;
  float values[1] = {in[threadIdx.x]};
  int ranks[1] = {127 - static_cast<int>(threadIdx.x)};
  Collective(storage).ScatterToBlocked(values, ranks);
  between(storage);
  Collective(storage).ScatterToStriped(values, ranks);
  out[threadIdx.x] = 2 * values[0];
}

template <cub::BlockLoadAlgorithm kLoad, cub::BlockStoreAlgorithm kStore>
__device__ void load_and_store(const float* in, float* out) {
  using Load = cub::BlockLoad<float, kThreads, 1, kLoad>;
  using Store = cub::BlockStore<float, kThreads, 1, kStore>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  float values[1];
  Load(storage.load).Load(in, values, kThreads, 0.0f);
  values[0] *= 2;
  between(storage);
  Store(storage.store).Store(out, values, kThreads);
}
KERNEL(load_transposed) {
  load_and_store<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(in, out);
}
KERNEL(load_warp_transposed) {
  load_and_store<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(in, out);
}
KERNEL(load_timesliced) {
  load_and_store<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
                 cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(in, out);
}
KERNEL(load_direct) {
  load_and_store<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(in, out);
}
KERNEL(load_striped) {
  load_and_store<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(in, out);
}

KERNEL(discontinuity) {
  using Collective = cub::BlockDiscontinuity<int, kThreads>;
  __shared__ typename Collective::TempStorage storage;
  int values[1] = {static_cast<int>(threadIdx.x) / 4};
  int heads[1];
  int tails[1];
  Collective(storage).FlagHeads(heads, values, Unequal());
  between(storage);
  Collective(storage).FlagTails(tails, values, Unequal());
  const int expected = threadIdx.x % 4 == 0;
  out[threadIdx.x] = right(in, heads[0] == expected && tails[0] == (threadIdx.x % 4 == 3 ? 1 : 0));
}
KERNEL(adjacent_difference) {
  using Collective = cub::BlockAdjacentDifference<int, kThreads>;
  __shared__ typename Collective::TempStorage storage;
  int values[1] = {static_cast<int>(in[threadIdx.x])};
  int left[1];
  const auto minus = [](int a, int b) { return a - b; };
  Collective(storage).SubtractLeft(values, left, minus);
  between(storage);
  Collective(storage).SubtractLeft(left, left, minus);
  out[threadIdx.x] = right(in, left[0] == (threadIdx.x == 1 ? 1 : 0));
}
KERNEL(shuffle) {
  using Collective = cub::BlockShuffle<float, kThreads>;
  __shared__ typename Collective::TempStorage storage;
  float next = 0;
  float before = 0;
  Collective(storage).Offset(in[threadIdx.x], next, 1);
  between(storage);
  Collective(storage).Offset(in[threadIdx.x], before, -1);
  const bool is_end = threadIdx.x == 0 || threadIdx.x == kThreads - 1;
  out[threadIdx.x] = is_end ? 2 * in[threadIdx.x] : next + before;
}
KERNEL(merge_sort) {
  using Collective = cub::BlockMergeSort<int, kThreads, 2>;
  __shared__ typename Collective::TempStorage storage;
  int keys[2] = {255 - 2 * static_cast<int>(threadIdx.x), 254 - 2 * static_cast<int>(threadIdx.x)};
  Collective(storage).Sort(keys, Less());
  between(storage);
  int again[2] = {255 - keys[0], 255 - keys[1]};
  Collective(storage).Sort(again, Less());
  out[threadIdx.x] = static_cast<float>(keys[0]) * right(in, again[1] == keys[1]) /
                     static_cast<float>(threadIdx.x > 0 ? 2 * threadIdx.x : 1);
}
KERNEL(radix_sort) {
  using Collective = cub::BlockRadixSort<int, kThreads, 1, float>;
  __shared__ typename Collective::TempStorage storage;
  int keys[1] = {127 - static_cast<int>(threadIdx.x)};
  float values[1] = {in[threadIdx.x]};
  Collective(storage).Sort(keys, values);
  between(storage);
  Collective(storage).SortDescending(keys, values);
  out[threadIdx.x] = 2 * values[0];
}
template <typename Collective>
__device__ void rank(const float* in, float* out) {
  __shared__ typename Collective::TempStorage storage;
  unsigned keys[1] = {(127u - threadIdx.x) / 8};
  int first[1];
  int again[1];
  cub::BFEDigitExtractor<unsigned> digits(0, 4);
  Collective(storage).RankKeys(keys, first, digits);
  between(storage);
  keys[0] = 15 - keys[0];
  Collective(storage).RankKeys(keys, again, digits);
  out[threadIdx.x] =
      right(in, first[0] / 8 == static_cast<int>(127 - threadIdx.x) / 8 && again[0] == threadIdx.x);
}
KERNEL(radix_rank) { rank<cub::BlockRadixRank<kThreads, 4, false>>(in, out); }
KERNEL(radix_rank_memoize) { rank<cub::BlockRadixRank<kThreads, 4, false, true>>(in, out); }
KERNEL(radix_rank_match) { rank<cub::BlockRadixRankMatch<kThreads, 4, false>>(in, out); }

template <cub::BlockHistogramAlgorithm kAlgorithm>
__device__ void histogram(const float* in, float* out) {
  using Collective = cub::BlockHistogram<unsigned char, kThreads, 1, 16, kAlgorithm>;
  __shared__ typename Collective::TempStorage storage;
  __shared__ int bins[16];
  unsigned char values[1] = {static_cast<unsigned char>(threadIdx.x % 16)};
  Collective(storage).Histogram(values, bins);
  #ifndef BUG
  __syncthreads();
#endif
  const bool is_right = bins[threadIdx.x % 16] == 8;
  __syncthreads();
  Collective(storage).Histogram(values, bins);
  __syncthreads();
  out[threadIdx.x] = right(in, is_right && bins[threadIdx.x % 16] == 8);
}
KERNEL(histogram_sort) { histogram<cub::BLOCK_HISTO_SORT>(in, out); }
KERNEL(histogram_atomic) { histogram<cub::BLOCK_HISTO_ATOMIC>(in, out); }

KERNEL(run_length_decode) {
  using Collective = cub::BlockRunLengthDecode<float, kThreads, 1, 2>;
  __shared__ typename Collective::TempStorage storage;
  float values[1] = {in[threadIdx.x]};
  unsigned lengths[1] = {2};
  unsigned total = 0;
  Collective decode(storage, values, lengths, total);
  float decoded[2];
  decode.RunLengthDecode(decoded, 0);
#ifdef BUG
  if (threadIdx.x == 127) *reinterpret_cast<unsigned*>(&storage) = total;
#endif
  out[threadIdx.x] = decoded[0] + decoded[1];
}

// Kernels with collectives of whole warps and of parts of warps.
template <int kLanes>
__device__ void warp_reduce(const float* in, float* out) {
  using Collective = cub::WarpReduce<float, kLanes>;
  __shared__ typename Collective::TempStorage storage[kThreads / kLanes];
  __shared__ float sums[kThreads / kLanes];
  const int part = threadIdx.x / kLanes;
  const float sum = Collective(storage[part]).Sum(in[threadIdx.x]);
  if (threadIdx.x % kLanes == 0) sums[part] = sum;
  between_lanes();
  const float first = static_cast<float>(part * kLanes);
  out[threadIdx.x] = right(in, sums[part] == kLanes * first + kLanes * (kLanes - 1) / 2);
}
KERNEL(warp_reduce_4) { warp_reduce<4>(in, out); }
KERNEL(warp_reduce_8) { warp_reduce<8>(in, out); }
KERNEL(warp_reduce_16) { warp_reduce<16>(in, out); }
KERNEL(warp_reduce_32) { warp_reduce<32>(in, out); }

template <int kLanes>
__device__ void warp_scan(const float* in, float* out) {
  using Collective = cub::WarpScan<int, kLanes>;
  __shared__ typename Collective::TempStorage storage[kThreads / kLanes];
  __shared__ int sums[kThreads];
  const int part = threadIdx.x / kLanes;
  Collective(storage[part]).InclusiveSum(1, sums[threadIdx.x]);
  between_lanes();
  out[threadIdx.x] = right(in, sums[threadIdx.x ^ 3] == static_cast<int>(threadIdx.x ^ 3) % kLanes + 1);
}
KERNEL(warp_scan_4) { warp_scan<4>(in, out); }
KERNEL(warp_scan_8) { warp_scan<8>(in, out); }
KERNEL(warp_scan_16) { warp_scan<16>(in, out); }
KERNEL(warp_scan_32) { warp_scan<32>(in, out); }

template <int kLanes>
__device__ void warp_exchange(const float* in, float* out) {
  using Collective = cub::WarpExchange<float, 2, kLanes>;
  __shared__ typename Collective::TempStorage storage[kThreads / kLanes];
  float values[2] = {in[threadIdx.x], in[threadIdx.x]};
  const int part = threadIdx.x / kLanes;
  Collective(storage[part]).BlockedToStriped(values, values);
  between_lanes<kLanes>(storage[part]);
  Collective(storage[part]).StripedToBlocked(values, values);
  out[threadIdx.x] = values[0] + values[1];
}
KERNEL(warp_exchange_8) { warp_exchange<8>(in, out); }
KERNEL(warp_exchange_32) { warp_exchange<32>(in, out); }

template <int kLanes>
__device__ void warp_load(const float* in, float* out) {
  using Load = cub::WarpLoad<float, 1, cub::WARP_LOAD_TRANSPOSE, kLanes>;
  using Store = cub::WarpStore<float, 1, cub::WARP_STORE_TRANSPOSE, kLanes>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage[kThreads / kLanes];
  const int part = threadIdx.x / kLanes;
  float values[1];
  Load(storage[part].load).Load(in + part * kLanes, values);
  values[0] *= 2;
  between_lanes<kLanes>(storage[part]);
  Store(storage[part].store).Store(out + part * kLanes, values);
}
KERNEL(warp_load_16) { warp_load<16>(in, out); }
KERNEL(warp_load_32) { warp_load<32>(in, out); }

template <int kLanes>
__device__ void warp_sort(const float* in, float* out) {
  using Collective = cub::WarpMergeSort<int, 1, kLanes>;
  __shared__ typename Collective::TempStorage storage[kThreads / kLanes];
  const int part = threadIdx.x / kLanes;
  int keys[1] = {kLanes - static_cast<int>(threadIdx.x % kLanes)};
  Collective(storage[part]).Sort(keys, Less());
  between_lanes<kLanes>(storage[part]);
  out[threadIdx.x] = right(in, keys[0] == static_cast<int>(threadIdx.x % kLanes) + 1);
}
KERNEL(warp_sort_8) { warp_sort<8>(in, out); }
KERNEL(warp_sort_32) { warp_sort<32>(in, out); }
