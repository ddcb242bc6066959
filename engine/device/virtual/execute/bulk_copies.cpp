#include "engine/device/virtual/execute/bulk_copies.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/device/virtual/checks/cluster_races.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/access_counts.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes bulk copies between global and shared memory, or within the shared memory of a cluster,
// in 16-byte chunks.

namespace evo::ptx {
namespace {

constexpr std::uint32_t kBytesAWavefront = 128;

/// Up to 32 pieces, of the same width, of the global memory that a bulk copy accesses; `offset` is
/// the position of each piece in the copied data.
struct Pieces {
  LaneAccess access;
  std::uint32_t width = 0;
  std::array<std::size_t, kWarpSize> offset{};
  std::size_t count = 0;
};

void add_piece(Pieces& pieces, const Warp& warp, std::uint64_t address, std::size_t offset) {
  GlobalBuffer& buffer = *warp.cta->buffer_cache()[warp.pc];
  LaneAccess& access = pieces.access;
  const std::size_t l = pieces.count++;
  const std::uint64_t at = address - buffer.base;
  access.global |= 1U << l;
  access.address[l] = address;
  access.pointer[l] = buffer.data.get() + at;
  pieces.offset[l] = offset;
  if (buffer.all_written.load(std::memory_order_relaxed)) return;
  access.tracked |= 1U << l;
  access.written[l] = buffer.written.get() + at;
}

/// Splits the copied ranges of global memory into pieces that are aligned to their width, and calls
/// `body` with up to 32 pieces at a time. All pieces must be in the buffer
/// Cta::buffer_cache()[warp.pc].
template <typename F>
void for_pieces(Warp& warp, int lane, const std::vector<BulkChunk>& chunks, F&& body) {
  Pieces pieces;
  const auto flush = [&] {
    if (pieces.count == 0) return;
    pieces.access.ok = true;
    pieces.access.issuer = lane;
    pieces.access.buffer = warp.cta->buffer_cache()[warp.pc];
    body(std::as_const(pieces));
    pieces = {};
  };
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const BulkChunk& chunk = chunks[c];
    if (chunk.begin >= chunk.end) continue;
    const std::uint64_t first = chunk.global + chunk.begin;
    const auto bits = static_cast<std::uint32_t>(first | (chunk.end - chunk.begin) | kBulkChunk);
    const std::uint32_t width = bits & -bits;
    for (std::uint32_t at = chunk.begin; at < chunk.end; at += width) {
      if (pieces.width != width || pieces.count == kWarpSize) flush();
      pieces.width = width;
      add_piece(pieces, warp, chunk.global + at, c * kBulkChunk + at);
    }
  }
  flush();
}

/// True if the race check records accesses to `pieces`. Pieces that are narrower than a shadow
/// word, which occur at the edges of a box of a tensor map, are not recorded, because several CTAs
/// may write parts of the same shadow word.
bool is_recorded(const Warp& warp, const Pieces& pieces) {
  return pieces.width >= 1U << warp.cta->launch().global_races.shift();
}

/// Calls `body` for accesses that the thread of `lane` makes to shared memory, with up to 32 chunks
/// at a time.
template <typename F>
void for_shared(int warp, int lane, std::uint32_t pc, const std::vector<std::uint32_t>& chunks,
                F&& body) {
  std::array<std::uint64_t, kWarpSize> address{};
  for (std::size_t from = 0; from < chunks.size(); from += kWarpSize) {
    const std::size_t count = std::min<std::size_t>(kWarpSize, chunks.size() - from);
    std::copy_n(chunks.begin() + static_cast<std::ptrdiff_t>(from), count, address.begin());
    RaceChecker::Access access{.warp = warp,
                               .pc = pc,
                               .mask = count == kWarpSize ? kAllLanes : (1U << count) - 1,
                               .address = address.data(),
                               .bytes = kBulkChunk,
                               .kind = AccessKind::kPlain};
    access.owner = lane;
    body(access);
  }
}

std::vector<std::uint32_t> shared_of(const std::vector<BulkChunk>& chunks) {
  std::vector<std::uint32_t> shared;
  shared.reserve(chunks.size());
  for (const BulkChunk& chunk : chunks) shared.push_back(chunk.shared);
  return shared;
}

void count_shared(Warp& warp, std::size_t chunks) {
  warp.cta->memory_counts()[warp.pc].shared_wavefronts +=
      (chunks * kBulkChunk + kBytesAWavefront - 1) / kBytesAWavefront;
}

void note_taint(BulkLoad& load, const Pieces& pieces) {
  for_lanes<std::size_t>(pieces.access.tracked, [&](std::size_t l) {
    for (std::uint32_t b = 0; b < pieces.width; ++b) {
      if (is_written(pieces.access.written[l] + b)) continue;
      load.taint.resize(load.chunks.size());
      const std::size_t at = pieces.offset[l] + b;
      std::uint16_t& taint = load.taint[at / kBulkChunk];
      taint = static_cast<std::uint16_t>(taint | 1U << (at % kBulkChunk));
    }
  });
}

/// Reports the first byte in the source of a bulk store that the kernel did not write.
void check_written(Warp& warp, int lane, const BulkStore& store) {
  Cta& cta = *warp.cta;
  for (const BulkChunk& chunk : store.chunks) {
    std::uint32_t taint = cta.races().taint_mask(chunk.shared, kBulkChunk);
    taint &= (1U << chunk.end) - (1U << chunk.begin);
    if (taint == 0) continue;
    cta.report(
        HazardKind::kUninitialised, pc_of(warp), -1,
        cta.names().shared(chunk.shared + static_cast<std::uint32_t>(std::countr_zero(taint))) +
            ", which the kernel did not write, reaches global memory by a bulk copy of " +
            cta.names().thread(warp.index, lane));
    return;
  }
}

void write_out(Warp& warp, const BulkStore& store) {
  Cta& cta = *warp.cta;
  const std::uint32_t pc = std::exchange(warp.pc, store.pc);
  for_pieces(warp, store.lane, store.chunks, [&](const Pieces& pieces) {
    WatchedPlaces places(warp, pieces.access, pieces.width);
    for_lanes<std::size_t>(pieces.access.global, [&](std::size_t l) {
      const std::byte* const values = store.data.data() + pieces.offset[l];
      if (places.is_active() && is_recorded(warp, pieces)) {
        places.enter(l);
        places.write(values);
      }
      copy_to_guest(pieces.access.pointer[l], values, pieces.width);
      if (std::uint8_t* marks = pieces.access.marks(l)) mark_written(marks, pieces.width);
    });
  });
  warp.pc = pc;
  cta.scheduler().note_progress();
}

}  // namespace

std::int64_t bytes_in_flight(const MBarrier& barrier) {
  std::int64_t bytes = 0;
  for (const BulkLoad& load : barrier.copies) bytes += static_cast<std::int64_t>(load.data.size());
  return bytes;
}

void land_copies(Warp& warp, MBarrier& barrier, std::uint64_t address) {
  if (barrier.copies.empty() || barrier.pending != 0) return;
  Cta& cta = *warp.cta;
  const std::int64_t bytes = bytes_in_flight(barrier);
  if (bytes < barrier.transactions) return;
  if (bytes > barrier.transactions) {
    cta.fail(HazardKind::kBarrier, static_cast<int>(barrier.copies.back().pc), -1,
             "mbarrier at " + cta.names().shared(address) +
                 ": the bulk copies of one phase bring " + std::to_string(bytes) +
                 " bytes, but the mbarrier expects " + std::to_string(barrier.transactions) +
                 " (expect_tx)");
    return;
  }
  const std::uint32_t time = cta.next_copy_time(barrier.copy_clock);
  // A copy that was issued before griddepcontrol.wait has already been reported as a hazard.
  cta.grid_wait().arrived(barrier.copy_clock, time);
  for (const BulkLoad& load : barrier.copies) {
    for (std::size_t c = 0; c < load.chunks.size(); ++c)
      std::memcpy(cta.shared() + load.chunks[c], load.data.data() + c * kBulkChunk, kBulkChunk);
    if (!cta.launch().check) continue;
    for_shared(load.warp, load.lane, load.pc, load.chunks, [&](const RaceChecker::Access& access) {
      cta.races().complete_copy(access, barrier.copy_clock, time);
    });
    for_shared(load.warp, load.lane, load.pc, load.sources, [&](const auto& access) {
      load.source->races().complete_copy_read(access, load.source_time);
    });
    for (std::size_t c = 0; c < load.taint.size(); ++c) {
      if (load.taint[c] != 0) cta.races().add_taint(load.chunks[c], load.taint[c]);
    }
  }
  const auto clock = static_cast<std::size_t>(barrier.copy_clock);
  barrier.arriving[clock] = time;
  barrier.arriving[clock + kProxied] = time;
  barrier.transactions = 0;
  barrier.copies.clear();
}

BulkLoad read_source(Warp& warp, int lane, const std::vector<BulkChunk>& chunks) {
  Cta& cta = *warp.cta;
  BulkLoad load{warp.index, lane, warp.pc, shared_of(chunks), {}, {}};
  load.data.resize(chunks.size() * kBulkChunk);
  for_pieces(warp, lane, chunks, [&](const Pieces& pieces) {
    if (is_recorded(warp, pieces)) note_global_read(warp, pieces.access, pieces.width);
    for_lanes<std::size_t>(pieces.access.global, [&](std::size_t l) {
      copy_from_guest(load.data.data() + pieces.offset[l], pieces.access.pointer[l], pieces.width);
    });
    if (cta.launch().check) note_taint(load, pieces);
    if (cta.launch().count_memory) count_access(warp, pieces.access, pieces.width, false);
  });
  if (cta.launch().count_memory) count_shared(warp, chunks.size());
  return load;
}

BulkLoad read_shared_source(Warp& warp, int lane, const std::vector<BulkChunk>& chunks) {
  Cta& cta = *warp.cta;
  BulkLoad load{warp.index, lane, warp.pc, shared_of(chunks), {}, {}};
  load.data.resize(chunks.size() * kBulkChunk);
  load.source = &cta;
  load.source_time = cta.races().clocks().now(warp.index);
  std::vector<std::uint32_t>& sources = load.sources;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    sources.push_back(static_cast<std::uint32_t>(chunks[c].global));
    std::memcpy(load.data.data() + c * kBulkChunk, cta.shared() + sources.back(), kBulkChunk);
  }
  if (!cta.launch().check) return load;
  for_shared(warp.index, lane, warp.pc, sources, [&](const RaceChecker::Access& access) {
    const auto result = cta.races().begin_async_read(access);
    if (!result.conflicts.empty()) report_conflicts(warp, result, "cp.async.bulk");
  });
  for (std::size_t c = 0; c < sources.size(); ++c) {
    const std::uint32_t taint = cta.races().taint_mask(sources[c], kBulkChunk);
    if (taint == 0) continue;
    load.taint.resize(sources.size());
    load.taint[c] = static_cast<std::uint16_t>(taint);
  }
  return load;
}

void start_load(Warp& warp, Cta& owner, MBarrier& barrier, BulkLoad load) {
  const bool is_own = &owner == warp.cta;
  if (owner.launch().check) {
    for_shared(load.warp, load.lane, load.pc, load.chunks, [&](const RaceChecker::Access& access) {
      if (is_own) {
        const auto result = owner.races().begin_async(access);
        if (!result.conflicts.empty()) report_conflicts(warp, result, "cp.async.bulk");
        return;
      }
      for_lanes<std::size_t>(access.mask, [&](std::size_t l) {
        check_remote_copy(warp, owner, load.lane, static_cast<std::uint32_t>(access.address[l]),
                          kBulkChunk);
      });
      owner.races().begin_foreign_copy(access);
    });
  }
  if (barrier.copy_clock < 0) barrier.copy_clock = owner.new_copy_clock();
  if (!is_own) warp.cta->scheduler().note_progress();
  if (load.source == &owner) {
    // A thread that has waited for the copy may overwrite the source.
    barrier.arriving.join(owner.races().clocks().of(load.warp));
  }
  barrier.copies.push_back(std::move(load));
}

void start_store(Warp& warp, int lane, std::vector<BulkChunk> chunks) {
  Cta& cta = *warp.cta;
  BulkStore store{
      lane, warp.bulk_groups[static_cast<std::size_t>(lane)], warp.pc, std::move(chunks), {}};
  store.data.resize(store.chunks.size() * kBulkChunk);
  for (std::size_t c = 0; c < store.chunks.size(); ++c) {
    std::memcpy(store.data.data() + c * kBulkChunk, cta.shared() + store.chunks[c].shared,
                kBulkChunk);
  }
  if (cta.launch().check) {
    for_shared(warp.index, lane, warp.pc, shared_of(store.chunks),
               [&](const RaceChecker::Access& access) {
                 const auto result = cta.races().begin_async_read(access);
                 if (!result.conflicts.empty()) report_conflicts(warp, result, "cp.async.bulk");
               });
    check_written(warp, lane, store);
  }
  if (cta.launch().count_memory) {
    count_shared(warp, store.chunks.size());
    for_pieces(warp, lane, store.chunks, [&](const Pieces& pieces) {
      count_access(warp, pieces.access, pieces.width, true);
    });
  }
  warp.stores.push_back(std::move(store));
}

void complete_stores(Warp& warp, std::uint32_t lanes, std::int64_t keep, bool only_reads) {
  Cta& cta = *warp.cta;
  const auto for_reads = [&](const BulkStore& store, auto&& body) {
    if (cta.launch().check)
      for_shared(warp.index, store.lane, store.pc, shared_of(store.chunks), body);
  };
  const auto is_ready = [&](const BulkStore& store) {
    const std::uint32_t committed = warp.bulk_groups[static_cast<std::size_t>(store.lane)];
    return ((lanes >> store.lane) & 1U) != 0 &&
           static_cast<std::int64_t>(committed - store.group) > keep;
  };
  bool has_completed = false;
  for (BulkStore& store : warp.stores) {
    if (!is_ready(store)) continue;
    if (!std::exchange(store.is_read, true)) {
      has_completed = true;
      for_reads(store, [&](const auto& access) { cta.races().complete_async_read(access); });
    }
    if (!only_reads) write_out(warp, store);
  }
  if (!only_reads) std::erase_if(warp.stores, is_ready);
  if (!has_completed) return;
  for (const BulkStore& store : warp.stores) {
    if (!store.is_read)
      for_reads(store, [&](const auto& access) { cta.races().mark_async_read(access); });
  }
}

void leave_stores(Warp& warp) {
  for (const BulkStore& store : warp.stores) {
    if (!store.is_read && warp.cta->launch().check) {
      warp.cta->report(HazardKind::kPendingWork, static_cast<int>(store.pc), -1,
                       "the bulk copy of " + warp.cta->names().thread(warp.index, store.lane) +
                           " from " + warp.cta->names().shared(store.chunks.front().shared) +
                           " was never waited for (wait_group.read)");
    }
    write_out(warp, store);
  }
  warp.stores.clear();
}

}  // namespace evo::ptx
