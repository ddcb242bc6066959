#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo::ptx {

class Cta;
struct Warp;
struct MBarrier;

/// Number of bytes in a chunk of shared memory, which is the unit of bulk copies.
inline constexpr std::uint32_t kBulkChunk = 16;

/// A chunk of shared memory and the address from or to which it is copied: in global memory or, for
/// a copy within a cluster, in the shared memory of the issuing CTA.
struct BulkChunk {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;
  /// Bytes [begin, end) of the chunk are copied. The other bytes are outside of the tensor; a load
  /// sets them to 0.
  std::uint8_t begin = 0;
  std::uint8_t end = kBulkChunk;
};

/// A bulk copy into shared memory that has not completed. The source of the copy was read when the
/// copy was issued. The virtual GPU writes the data to shared memory when a thread waits for the
/// phase of the copy's mbarrier, which is the latest time that PTX allows.
struct BulkLoad {
  int warp = 0;
  int lane = 0;
  std::uint32_t pc = 0;
  std::vector<std::uint32_t> chunks;  ///< destinations
  std::vector<std::byte> data;
  std::vector<std::uint16_t> taint;  ///< of each chunk, a mask of uninitialised bytes; empty: none
  Cta* source = nullptr;             ///< the CTA whose shared memory is copied; null: global memory
  std::uint32_t source_time = 0;     ///< the time of the warp when it issued the copy
  std::vector<std::uint32_t> sources = {};  ///< addresses of the chunks in `source`
};

/// A bulk copy out of shared memory. The source was read when the copy was issued, but the kernel
/// must not overwrite the source until the thread waits for the read (wait_group.read). The virtual
/// GPU writes the data to global memory when the thread waits for the copy, or when its warp exits.
struct BulkStore {
  int lane = 0;
  std::uint32_t group = 0;  ///< number of bulk groups that the thread had committed before
  std::uint32_t pc = 0;
  std::vector<BulkChunk> chunks;
  std::vector<std::byte> data;
  bool is_read = false;  ///< the source may be overwritten
};

/// The sum of the bytes of all bulk copies in flight that complete on `barrier`.
[[nodiscard]] std::int64_t bytes_in_flight(const MBarrier& barrier);

/// Must be called when a thread waits for the current phase of the mbarrier at `address`: completes
/// the bulk copies on the mbarrier if the phase lacks only their bytes. Ends the launch if the
/// copies bring more bytes than the phase expects.
void land_copies(Warp& warp, MBarrier& barrier, std::uint64_t address);

/// Reads the source, in global memory, of a copy that `lane` issues to shared memory.
[[nodiscard]] BulkLoad read_source(Warp& warp, int lane, const std::vector<BulkChunk>& chunks);
/// Like read_source(), for a source in the CTA's own shared memory, at the addresses
/// BulkChunk::global.
[[nodiscard]] BulkLoad read_shared_source(Warp& warp, int lane,
                                          const std::vector<BulkChunk>& chunks);
/// Starts a copy into the shared memory of `owner`. The copy completes on `barrier`, which must be
/// in the same CTA.
void start_load(Warp& warp, Cta& owner, MBarrier& barrier, BulkLoad load);
/// Starts a copy by `lane` out of shared memory, which belongs to the thread's current bulk group.
void start_store(Warp& warp, int lane, std::vector<BulkChunk> chunks);

/// Completes the committed bulk stores of `lanes`, except those in the newest `keep` committed bulk
/// groups of each lane. Completes the reads of shared memory by the stores and, unless `only_reads`
/// is true, their writes to global memory.
void complete_stores(Warp& warp, std::uint32_t lanes, std::int64_t keep, bool only_reads);
/// Must be called when a warp exits: reports bulk stores whose source the kernel has not waited for
/// (wait_group.read), then completes all bulk stores.
void leave_stores(Warp& warp);

}  // namespace evo::ptx
