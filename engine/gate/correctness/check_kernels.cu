// The kernels that check outputs on the device. The source that is compiled consists of
// check_numbers.cu followed by this file.

/// Sums `mine` over the threads of the CTA; all threads get the sum.
template <typename T>
__device__ void sum_over_block(T* shared, T& mine) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) add(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  mine = shared[0];
  __syncthreads();
}

__device__ void add_row_of_other_lane(Row& row, int distance) {
  constexpr u32 kAll = 0xffffffffu;
  Row other;
  other.reference.small = __shfl_xor_sync(kAll, row.reference.small, distance);
  other.reference.middle = __shfl_xor_sync(kAll, row.reference.middle, distance);
  other.reference.large = __shfl_xor_sync(kAll, row.reference.large, distance);
  other.finite = __shfl_xor_sync(kAll, row.finite, distance);
  other.largest = __shfl_xor_sync(kAll, row.largest, distance);
  other.largest_at = __shfl_xor_sync(kAll, row.largest_at, distance);
  add(row, other);
}

struct Outputs {
  const void* output;
  Masked expected;
  Format format;
  double bad_abs_error;
};

/// Compares element `i`, whose bits and expected bits are given.
template <int kSize>
__device__ void add_element(Figures& figures, Row& row, const Outputs& outputs, u64 i, u64 bits,
                            u64 expected_bits, bool has_rows) {
  const double value = number_of(bits, outputs.format);
  const double expected = number_of(expected_bits, outputs.format);
  const double error = kSize == 8 && outputs.format.is_wide_integer()
                           ? wide_distance(bits, expected_bits, outputs.format)
                           : fabs(value - expected);
  if (has_rows && is_finite(expected)) {
    add_square<kSize>(row.reference, expected);
    ++row.finite;
  }
  if (!is_finite(error)) {
    if ((is_nan(value) && is_nan(expected)) || value == expected) return;
    ++figures.non_finite;
    ++figures.bad;
    if (i < figures.first_special) figures.first_special = i;
    return;
  }
  add_square<kSize>(figures.error, error);
  add_square<kSize>(figures.reference, expected);
  if (error > outputs.bad_abs_error) ++figures.bad;
  if (error > row.largest) {
    row.largest = error;
    row.largest_at = i;
  }
}

/// A warp compares elements `start` to `end` - 1. Each lane takes a block at a time, because the
/// mask of a block takes longer than the comparison of its elements.
template <int kSize>
__device__ void add_elements(Figures& figures, Row& row, const Outputs& outputs, u64 start, u64 end,
                             bool has_rows) {
  constexpr int kElements = kBlockBytes / kSize;
  for (u64 block = start / kElements + threadIdx.x % kLanes; block * kElements < end;
       block += kLanes) {
    const u64 first = block * kElements;
    const Block mask = mask_block(outputs.expected.key, block);
    if (first >= start && first + kElements <= end) {
      const Block values = ((const Block*)outputs.output)[block];
      const Block expected = ((const Block*)outputs.expected.data)[block] ^ mask;
#pragma unroll 2
      for (int k = 0; k < kElements; ++k) {
        add_element<kSize>(figures, row, outputs, first + k, bits_in<kSize>(values, k),
                           bits_in<kSize>(expected, k), has_rows);
      }
      continue;
    }
    for (int k = 0; k < kElements; ++k) {
      const u64 i = first + k;
      if (i < start || i >= end) continue;
      const u64 expected = bits_at(outputs.expected.data, i, kSize) ^ bits_in<kSize>(mask, k);
      add_element<kSize>(figures, row, outputs, i, bits_at(outputs.output, i, kSize), expected,
                         has_rows);
    }
  }
}

/// A segment of an output has at most `length` elements, all of the same row.
struct Segments {
  u64 row_length;
  u64 length;
  u64 per_row;
  u64 count;
};

/// Compares the segments of a warp. If a row has several segments, writes their Row to `rows`.
template <int kSize>
__device__ Figures compared(const Outputs& outputs, const Segments& segments, bool has_rows,
                            Row* rows) {
  Figures figures = empty_figures();
  const int lane = threadIdx.x % kLanes;
  const u64 warps = (u64)gridDim.x * (kThreads / kLanes);
  for (u64 s = (u64)blockIdx.x * (kThreads / kLanes) + threadIdx.x / kLanes; s < segments.count;
       s += warps) {
    const u64 number = s / segments.per_row;
    const u64 row_end = (number + 1) * segments.row_length;
    const u64 start =
        number * segments.row_length + (s - number * segments.per_row) * segments.length;
    const u64 end = start + segments.length < row_end ? start + segments.length : row_end;
    Row row = empty_row();
    add_elements<kSize>(figures, row, outputs, start, end, has_rows);
    take_larger(figures.largest, figures.largest_at, row.largest, row.largest_at);
    if (!has_rows) continue;
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      add_row_of_other_lane(row, distance);
    }
    if (lane != 0) continue;
    if (segments.per_row == 1) {
      finish_row(figures, row);
    } else {
      rows[s] = row;
    }
  }
  return figures;
}

// The sum of the element sizes in bytes (1, 2, 4, 8) that evo_compare_elements can compare. Each
// size that is left out shortens the compilation.
#ifndef EVO_ELEMENT_SIZES
#define EVO_ELEMENT_SIZES 15
#endif

/// Each warp compares segments of at most `segment_length` elements, each within one row. For an
/// output without rows, `row_length` is the number of all elements. Each CTA writes its error
/// statistics to `parts`. If a row has several segments, the statistics of each segment go to
/// `rows`, which evo_compare_rows reads. `output` and `expected` are aligned to sixteen bytes.
/// Traps if EVO_ELEMENT_SIZES lacks the size of the elements.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_compare_elements(const void* output, const void* expected, u64 key, u32 format,
                         double bad_abs_error, int has_rows, u64 row_length, u64 segment_length,
                         u64 segments_per_row, u64 segment_count, Figures* parts, Row* rows) {
  __shared__ Figures shared[kThreads];
  const Outputs outputs = {output, {expected, key}, {format}, bad_abs_error};
  const Segments segments = {row_length, segment_length, segments_per_row, segment_count};
  Figures mine;
  const int size = outputs.format.bytes() & EVO_ELEMENT_SIZES;
  if (size == 1) {
    mine = compared<1>(outputs, segments, has_rows != 0, rows);
  } else if (size == 2) {
    mine = compared<2>(outputs, segments, has_rows != 0, rows);
  } else if (size == 4) {
    mine = compared<4>(outputs, segments, has_rows != 0, rows);
  } else if (size == 8) {
    mine = compared<8>(outputs, segments, has_rows != 0, rows);
  } else {
    asm volatile("trap;");
  }
  sum_over_block(shared, mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}

/// Combines the segments of long rows, one CTA for each row. Each CTA writes its error statistics
/// to `parts`, starting at index `first_part`.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_compare_rows(const Row* segments, u64 rows, u64 segments_per_row, Figures* parts,
                     u32 first_part) {
  __shared__ Row shared[kThreads];
  Figures mine = empty_figures();
  for (u64 number = blockIdx.x; number < rows; number += gridDim.x) {
    Row row = empty_row();
    for (u64 s = threadIdx.x; s < segments_per_row; s += kThreads) {
      add(row, segments[number * segments_per_row + s]);
    }
    sum_over_block(shared, row);
    if (threadIdx.x == 0) finish_row(mine, row);
  }
  if (threadIdx.x == 0) parts[first_part + blockIdx.x] = mine;
}

__device__ void put(u64* slot, int word, double value) {
  slot[word] = (u64)__double_as_longlong(value);
}

/// One CTA combines the error statistics in `parts`, and writes the result of the comparison to
/// slot number `slot_number` of the results.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_compare_finish(const void* output, const void* expected, u64 key, int size,
                       const Figures* parts, u32 part_count, u64* slots, u32 slot_number) {
  __shared__ Figures shared[kThreads];
  Figures mine = empty_figures();
  for (u32 i = threadIdx.x; i < part_count; i += kThreads) add(mine, parts[i]);
  sum_over_block(shared, mine);
  if (threadIdx.x != 0) return;
  u64* slot = slots + (u64)slot_number * kSlotWords;
  const u64 largest_at = mine.largest > 0 ? mine.largest_at : 0;
  const u64 worst = mine.non_finite > 0 ? mine.first_special : largest_at;
  const u64 worst_row = mine.row_error > 0 ? mine.row_at : 0;
  const Masked right = {expected, key};
  put(slot, 0, mine.error.small);
  put(slot, 1, mine.error.middle);
  put(slot, 2, mine.error.large);
  put(slot, 3, mine.reference.small);
  put(slot, 4, mine.reference.middle);
  put(slot, 5, mine.reference.large);
  put(slot, 6, mine.largest);
  put(slot, 7, mine.row_error);
  slot[8] = mine.bad;
  slot[9] = mine.non_finite;
  slot[10] = worst;
  slot[11] = worst_row;
  slot[12] = bits_at(output, worst, size);
  slot[13] = bits_at(right, worst, size);
  slot[14] = bits_at(output, worst_row, size);
  slot[15] = bits_at(right, worst_row, size);
  slot[kSlotWords - 1] = kDone;
}

// 4. Operations on bytes.

__device__ void done_by_one(u64* slot) {
  if (blockIdx.x == 0 && threadIdx.x == 0) slot[kSlotWords - 1] = kDone;
}

__device__ u64 first_different_byte(u64 a, u64 b) {
  return (u64)(__ffsll((long long)(a ^ b)) - 1) / 8;
}

/// splitmix64's finaliser.
__device__ u64 mixed(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// The contribution of word `i`, or of the byte with index `i` in the data, to a fingerprint.
__device__ u64 mixed_at(u64 value, u64 i) { return mixed(value ^ mixed(i + 1)); }

/// Adds the contributions of all threads to the fingerprint in a result slot. The threads of a warp
/// first add theirs together, because an addition to the same address by each thread takes longer
/// than the hashing.
__device__ void add_to_fingerprint(u64* slot, u64 mine) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    mine += __shfl_xor_sync(0xffffffffu, mine, distance);
  }
  if (threadIdx.x % kLanes == 0) atomicAdd(slot + kFingerprint, mine);
}

/// Writes the index of the first byte in which `data` differs from the masked copy `kept` to word 0
/// of the result slot; if all bytes are equal, all bits of this word stay 1. Writes the fingerprint
/// of `kept` to the slot's word kFingerprint. `data` and `kept` are aligned to sixteen bytes.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_first_difference(const void* data, const void* kept, u64 key, u64 bytes, u64* slots,
                         u32 slot_number) {
  u64* slot = slots + (u64)slot_number * kSlotWords;
  const u64 blocks = bytes / kBlockBytes;
  const u64 threads = (u64)gridDim.x * kThreads;
  const u64 thread = (u64)blockIdx.x * kThreads + threadIdx.x;
  u64 first = kNowhere;
  u64 sum = 0;
  for (u64 block = thread; block < blocks; block += threads) {
    const Block masked = ((const Block*)kept)[block];
    const Block x = ((const Block*)data)[block];
    const Block y = masked ^ mask_block(key, block);
    sum += mixed_at(masked.low, block * 2) + mixed_at(masked.high, block * 2 + 1);
    if (first != kNowhere) continue;
    if (x.high != y.high) first = block * kBlockBytes + 8 + first_different_byte(x.high, y.high);
    if (x.low != y.low) first = block * kBlockBytes + first_different_byte(x.low, y.low);
  }
  const u64 words = bytes / 8;
  if (words % 2 == 1 && thread == 0) sum += mixed_at(((const u64*)kept)[words - 1], words - 1);
  for (u64 i = blocks * kBlockBytes + thread; i < bytes; i += threads) {
    if (i >= words * 8) sum += mixed_at(((const u8*)kept)[i], i);
    if (((const u8*)data)[i] != bits_at(Masked{kept, key}, i, 1) && i < first) first = i;
  }
  if (first != kNowhere) atomicMin(slot, first);
  add_to_fingerprint(slot, sum);
  done_by_one(slot);
}

/// Copies `from` to `to` with each byte combined with the mask of `key` by XOR, which masks plain
/// data and unmasks masked data. `to` and `from` are aligned to sixteen bytes and may be equal.
__device__ void mask_content(void* to, const void* from, u64 key, u64 bytes) {
  const u64 blocks = bytes / kBlockBytes;
  const u64 threads = (u64)gridDim.x * kThreads;
  const u64 thread = (u64)blockIdx.x * kThreads + threadIdx.x;
  for (u64 block = thread; block < blocks; block += threads) {
    ((Block*)to)[block] = ((const Block*)from)[block] ^ mask_block(key, block);
  }
  for (u64 i = blocks * kBlockBytes + thread; i < bytes; i += threads) {
    ((u8*)to)[i] = (u8)bits_at(Masked{from, key}, i, 1);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    evo_mask(void* to, const void* from, u64 key, u64 bytes) {
  mask_content(to, from, key, bytes);
}

/// Like evo_mask, but writes only after about 0.1 ms and, on sm_90 and later, lets the next kernel
/// start at once (programmatic dependent launch). If the next kernel does not wait for the end of
/// evo_mask_late, it reads the old content.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_mask_late(void* to, const void* from, u64 key, u64 bytes) {
  constexpr int kSleeps = 128;
  constexpr u32 kSleepNs = 1000;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  if (threadIdx.x == 0) {
    for (int i = 0; i < kSleeps; ++i) asm volatile("nanosleep.u32 %0;" ::"r"(kSleepNs));
  }
  __syncthreads();
  mask_content(to, from, key, bytes);
}

/// Checks that the guard zones of a buffer, which begin `before` and `after` bytes from its first
/// byte, hold `pattern` (two bytes, repeated). Writes to word 0 of the result slot the offset of
/// the first overwritten byte behind the buffer, and to word 1 the distance, in bytes, of the last
/// overwritten byte before the buffer (1 is next to it). The word of an intact zone keeps all
/// bits 1.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_guard_zones(const u8* buffer, long long before, long long after, u32 zone_bytes,
                    u32 pattern, u64* slots, u32 slot_number) {
  u64* slot = slots + (u64)slot_number * kSlotWords;
  for (u32 i = threadIdx.x; i < zone_bytes; i += kThreads) {
    const u8 right = (u8)(i % 2 == 0 ? pattern : pattern >> 8);
    if (buffer[after + (long long)i] != right) atomicMin(slot, (u64)i);
    if (buffer[before + (long long)i] != right) atomicMin(slot + 1, (u64)(zone_bytes - i));
  }
  done_by_one(slot);
}

/// Adds a hash of all bytes and their positions to word kFingerprint of the result slot.
extern "C" __global__ void __launch_bounds__(kThreads)
    evo_fingerprint(const void* data, u64 bytes, u64* slots, u32 slot_number) {
  u64* slot = slots + (u64)slot_number * kSlotWords;
  const u64 words = bytes / 8;
  const u64 threads = (u64)gridDim.x * kThreads;
  const u64 thread = (u64)blockIdx.x * kThreads + threadIdx.x;
  u64 sum = 0;
  for (u64 i = thread; i < words; i += threads) sum += mixed_at(((const u64*)data)[i], i);
  for (u64 i = words * 8 + thread; i < bytes; i += threads) {
    sum += mixed_at(((const u8*)data)[i], i);
  }
  add_to_fingerprint(slot, sum);
  done_by_one(slot);
}
