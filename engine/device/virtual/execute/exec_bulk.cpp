#include "engine/device/virtual/execute/exec_bulk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/device/virtual/checks/cluster_races.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/bulk_copies.hpp"
#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_mbarrier.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/cluster_access.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"
#include "engine/device/virtual/memory/virtual_tensor_map.hpp"

// Executes cp.async.bulk. Every active lane issues a copy of its own.

namespace evo::ptx {
namespace {

/// A cp.async.bulk instruction with the addresses of all lanes.
struct Issue {
  const BulkCopy& copy;
  const std::uint32_t* registers;
  std::array<std::uint64_t, kWarpSize> shared;
  std::array<std::uint64_t, kWarpSize> global;
  std::array<std::uint64_t, kWarpSize> barrier;
  /// for each lane, a mask of the ranks of the CTAs to which its load writes; 0: find_targets() was
  /// not called, because the copy is a store, or because the kernel has no clusters and the copy is
  /// no multicast copy
  std::array<std::uint32_t, kWarpSize> targets;
};

/// Fills Issue::targets for a load, and replaces the addresses of the destinations and mbarriers by
/// offsets in the shared memory of a CTA. Ends the launch if an address or a mask of CTAs is
/// invalid.
void find_targets(Warp& warp, Issue& issue) {
  const Cta& cta = *warp.cta;
  const auto rank_of = [&](std::uint64_t address) {
    const std::uint64_t part = address / kClusterPart;
    return part == 0 ? std::uint64_t{cta.cluster_rank()} : part - 1;
  };
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    const std::uint64_t rank = rank_of(issue.shared[l]);
    const auto wrong = [&](const std::string& why) {
      warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                     "bulk copy by " + cta.names().thread(warp.index, static_cast<int>(l)) + why);
    };
    if (rank != rank_of(issue.barrier[l]))
      return wrong(": its mbarrier and its destination are in different CTAs");
    std::uint32_t mask = 1U << std::min<std::uint64_t>(rank, 31);
    if (issue.copy.is_multicast)
      mask = warp.reg<const std::uint32_t>(issue.registers[BulkCopy::kMask])[l] & 0xffff;
    const std::uint32_t ctas = cta.cluster() == nullptr ? 1 : cta.cluster()->size();
    if (mask == 0 || mask >> ctas != 0) {
      return wrong(
          fmt::format(": the mask {:#x} of CTAs must name at least one of the {} CTAs of the "
                      "cluster, and no other",
                      mask, ctas));
    }
    issue.targets[l] = mask;
    issue.shared[l] = offset_in_cta(issue.shared[l]);
    issue.barrier[l] = offset_in_cta(issue.barrier[l]);
  });
}

/// `at` with the base register `base`. Reports a hazard if its addresses depend on uninitialised
/// data.
Address with_base(Warp& warp, Address at, std::uint32_t base) {
  at.base = base;
  report_tainted_address(warp, at, warp.exec);
  return at;
}

Issue issue_of(Warp& warp, const BulkOperands& op) {
  const BulkCopy& copy = warp.cta->program().bulk_copies[op.copy];
  const std::uint32_t* registers = warp.cta->program().registers_of(op.registers);
  const Address& shared = copy.is_load ? copy.to : copy.from;
  const Address& global = copy.is_load ? copy.from : copy.to;
  const std::uint32_t to = registers[BulkCopy::kTo];
  const std::uint32_t from = registers[BulkCopy::kFrom];
  return {copy,
          registers,
          shared_addresses(warp, with_base(warp, shared, copy.is_load ? to : from)),
          copy.from_shared
              ? shared_addresses(warp, with_base(warp, copy.from, from))
              : lane_addresses(warp, with_base(warp, global, copy.is_load ? from : to)),
          shared_addresses(warp, with_base(warp, copy.barrier, registers[BulkCopy::kBarrier])),
          {}};
}

bool fail(Warp& warp, int lane, HazardKind kind, const std::string& what) {
  warp.cta->fail(kind, pc_of(warp), -1,
                 what + ", by " + warp.cta->names().thread(warp.index, lane));
  return false;
}

/// Finds the buffer that contains all bytes of global memory that the copy accesses, and stores it
/// in Cta::buffer_cache() for the instruction. Reports a hazard and returns false if no buffer
/// contains all bytes of the copy, or if the copy writes to a read-only buffer.
bool find_buffer(Warp& warp, int lane, std::uint64_t address, std::uint64_t bytes, bool writes) {
  Cta& cta = *warp.cta;
  const GlobalMemory& memory = *cta.launch().memory;
  GlobalBuffer* const buffer = memory.find(address);
  if (buffer == nullptr || !buffer->contains(address, bytes)) {
    const std::uint64_t last = address + bytes - 1;
    return fail(warp, lane, HazardKind::kOutOfBounds,
                fmt::format("bulk copy of {} bytes at global address {:#x}, {}", bytes, address,
                            memory.describe(buffer == nullptr ? address : last)));
  }
  if (writes && !buffer->writable) {
    return fail(warp, lane, HazardKind::kReadOnlyWrite,
                fmt::format("bulk copy of {} bytes to {}", bytes, memory.describe(address)));
  }
  cta.buffer_cache()[warp.pc] = buffer;
  if (early_lanes(warp, 1U << lane) != 0) {
    report_early(warp, lane,
                 fmt::format("bulk copy of {} bytes {} {}", bytes, writes ? "to" : "from",
                             memory.describe(address)));
  }
  return true;
}

bool check_shared(Warp& warp, int lane, std::uint64_t address, std::uint64_t bytes,
                  std::uint32_t alignment) {
  const std::uint64_t limit = warp.cta->shared_bytes();
  if (address % alignment != 0) {
    return fail(warp, lane, HazardKind::kMisaligned,
                fmt::format("bulk copy at shared address {:#x}, which is not a multiple of {}",
                            address, alignment));
  }
  if (address < limit && bytes <= limit - address) return true;
  return fail(warp, lane, HazardKind::kOutOfBounds,
              fmt::format("bulk copy of {} bytes at shared address {:#x}; the CTA has {} bytes of "
                          "shared memory",
                          bytes, address, limit));
}

/// The chunks that a copy without a tensor map moves; nullopt if a hazard was reported.
std::optional<std::vector<BulkChunk>> linear_chunks(Warp& warp, int lane, const Issue& issue) {
  const auto l = static_cast<std::size_t>(lane);
  const std::uint32_t size = warp.reg<const std::uint32_t>(issue.registers[BulkCopy::kSize])[l];
  if ((size | issue.global[l]) % kBulkChunk != 0) {
    fail(warp, lane, HazardKind::kMisaligned,
         fmt::format("bulk copy of {} bytes at address {:#x}; both must be multiples of {}", size,
                     issue.global[l], kBulkChunk));
    return std::nullopt;
  }
  if (size == 0) return std::vector<BulkChunk>();
  if (!check_shared(warp, lane, issue.shared[l], size, kBulkChunk)) return std::nullopt;
  if (issue.copy.from_shared ? !check_shared(warp, lane, issue.global[l], size, kBulkChunk)
                             : !find_buffer(warp, lane, issue.global[l], size, !issue.copy.is_load))
    return std::nullopt;
  std::vector<BulkChunk> chunks(size / kBulkChunk);
  for (std::uint32_t c = 0; c < chunks.size(); ++c) {
    chunks[c].global = issue.global[l] + std::uint64_t{c} * kBulkChunk;
    chunks[c].shared = static_cast<std::uint32_t>(issue.shared[l]) + c * kBulkChunk;
  }
  return chunks;
}

/// Reads the tensor map at an address; nullopt if a hazard was reported.
std::optional<VirtualTensorMap> map_at(Warp& warp, int lane, std::uint64_t address,
                                       int dimensions) {
  constexpr std::uint32_t kAlignment = 64;
  std::array<std::byte, kTensorMapBytes> bytes;
  std::array<std::uint64_t, kWarpSize> places{};
  constexpr std::size_t kParts = kTensorMapBytes / kBulkChunk;
  for (std::size_t p = 0; p < kParts; ++p) places[p] = address + p * kBulkChunk;
  const LaneAccess access =
      resolve(warp, Space::kGeneric, places, (1U << kParts) - 1, kBulkChunk, AccessIntent::kRead);
  if (!access.ok) return std::nullopt;
  for (std::size_t p = 0; p < kParts; ++p)
    copy_from_guest(bytes.data() + p * kBulkChunk, access.pointer[p], kBulkChunk);
  const auto map = decode(bytes);
  if (address % kAlignment == 0 && map && map->dimensions == dimensions) return map;
  fail(warp, lane, HazardKind::kInvalidInstruction,
       fmt::format("the address {:#x} holds no tensor map of {} dimensions at a multiple of {} "
                   "bytes",
                   address, dimensions, kAlignment));
  return std::nullopt;
}

/// Checks the coordinates of a box of a tensor map. If they are invalid, reports a hazard and
/// returns false; a GPU ends the kernel with an illegal instruction error.
bool check_coordinates(Warp& warp, int lane, const VirtualTensorMap& map,
                       std::span<const std::int32_t> coordinates, bool is_load) {
  if (coordinates[0] * map.element_bytes % static_cast<std::int32_t>(kBulkChunk) != 0) {
    return fail(warp, lane, HazardKind::kMisaligned,
                fmt::format("box at coordinate {} of the innermost dimension, which has elements "
                            "of {} bytes; it must begin at a multiple of {} bytes",
                            coordinates[0], map.element_bytes, kBulkChunk));
  }
  const auto negative =
      std::ranges::find_if(coordinates, [](std::int32_t coordinate) { return coordinate < 0; });
  if (is_load || negative == coordinates.end()) return true;
  return fail(warp, lane, HazardKind::kInvalidInstruction,
              fmt::format("a box that is stored begins at coordinate {} of dimension {}; it must "
                          "not be negative",
                          *negative, negative - coordinates.begin()));
}

/// The chunks of the box that a copy with a tensor map moves; nullopt if a hazard was reported.
std::optional<std::vector<BulkChunk>> tensor_chunks(Warp& warp, int lane, const Issue& issue) {
  constexpr std::uint32_t kAlignment = 128;  // of the box in shared memory
  const auto l = static_cast<std::size_t>(lane);
  const auto map = map_at(warp, lane, issue.global[l], issue.copy.dimensions);
  if (!map || !check_shared(warp, lane, issue.shared[l], map->box_bytes(), kAlignment) ||
      !find_buffer(warp, lane, map->base, map->extent(), !issue.copy.is_load))
    return std::nullopt;
  std::array<std::int32_t, kMostTensorDimensions> coordinates{};
  for (std::size_t i = 0; i < issue.copy.dimensions; ++i)
    coordinates[i] = warp.reg<const std::int32_t>(issue.registers[BulkCopy::kCoordinates + i])[l];
  if (!check_coordinates(warp, lane, *map, coordinates, issue.copy.is_load)) return std::nullopt;
  auto chunks = box_chunks(*map, std::span(coordinates).first(issue.copy.dimensions),
                           static_cast<std::uint32_t>(issue.shared[l]), !issue.copy.is_load);
  const GlobalBuffer& buffer = *warp.cta->buffer_cache()[warp.pc];
  const auto leaves = [&](const BulkChunk& chunk) {
    return chunk.begin < chunk.end &&
           !buffer.contains(chunk.global + chunk.begin, std::uint64_t{chunk.end} - chunk.begin);
  };
  const auto outside = std::ranges::find_if(chunks, leaves);
  if (outside == chunks.end()) return chunks;
  fail(warp, lane, HazardKind::kOutOfBounds,
       fmt::format("a stored box writes whole chunks of {} bytes; a chunk at global address {:#x} "
                   "reaches beyond '{}'",
                   kBulkChunk, outside->global, buffer.name));
  return std::nullopt;
}

/// Starts a copy into the shared memory of all CTAs in Issue::targets.
void load_into_cluster(Warp& warp, int lane, const Issue& issue, const BulkLoad& load) {
  const auto l = static_cast<std::size_t>(lane);
  for_lanes<std::uint32_t>(issue.targets[l], [&](std::uint32_t rank) {
    if (warp.cta->failed()) return;
    const std::uint64_t part = part_of(warp.cta->cluster()->at(rank));
    Cta* const owner = owner_of(warp, lane, part + issue.shared[l], load.data.size(), "bulk copy");
    if (owner == nullptr || !note_remote_mbarrier(warp, *owner, lane, issue.barrier[l])) return;
    MBarrier* const barrier = find_mbarrier(warp, *owner, issue.barrier[l], l);
    if (barrier == nullptr) return;
    barrier->is_foreign = true;
    start_load(warp, *owner, *barrier, load);
    if (!issue.copy.from_shared) return;
    // Publishes the read of the source, because a thread that has waited for the copy may overwrite
    // the source.
    note_published(warp);
    release_in_cluster(warp, part + issue.barrier[l]);
    warp.cta->races().clocks().tick(warp.index);
  });
}

void copy_by_lane(Warp& warp, int lane, const Issue& issue) {
  auto chunks = issue.copy.dimensions > 0 ? tensor_chunks(warp, lane, issue)
                                          : linear_chunks(warp, lane, issue);
  if (!chunks || chunks->empty()) return;
  if (!issue.copy.is_load) {
    start_store(warp, lane, *std::move(chunks));
    return;
  }
  const auto l = static_cast<std::size_t>(lane);
  BulkLoad load = issue.copy.from_shared ? read_shared_source(warp, lane, *chunks)
                                         : read_source(warp, lane, *chunks);
  Cta& cta = *warp.cta;
  if (issue.targets[l] != 0 && issue.targets[l] != 1U << cta.cluster_rank()) {
    load_into_cluster(warp, lane, issue, load);
    return;
  }
  MBarrier* const barrier = find_mbarrier(warp, issue.barrier[l], l);
  if (barrier == nullptr) return;
  start_load(warp, cta, *barrier, std::move(load));
  // For the time model, the arrival of a copy's data is recorded as an arrival at the mbarrier.
  cta.note_sync(warp, mbarrier_key(issue.barrier[l]), static_cast<std::int64_t>(barrier->phase),
                -1);
}

}  // namespace

void exec_bulk_copy(Warp& warp, const Instr& in) {
  const auto& op = in.as<BulkOperands>();
  Issue issue = issue_of(warp, op);
  for (std::uint32_t r = BulkCopy::kSize; warp.tainted && r < op.registers.count; ++r) {
    const std::uint32_t reg = issue.registers[r];
    const std::uint32_t lanes = reg == kNoRegister ? 0 : tainted_lanes(warp, reg, 4, warp.exec);
    if (lanes != 0)
      report_tainted_use(warp, lanes, "give the size, CTAs or coordinates of a bulk copy");
  }
  if (issue.copy.is_load && (issue.copy.is_multicast || warp.cta->cluster() != nullptr))
    find_targets(warp, issue);
  if (warp.cta->failed()) return;
  const bool all_own = std::ranges::all_of(issue.targets, [&](std::uint32_t mask) {
    return mask == 0 || mask == 1U << warp.cta->cluster_rank();
  });
  if (issue.copy.is_load && all_own && !check_mbarriers(warp, issue.barrier)) return;
  for_lanes(warp.exec, [&](int lane) {
    if (!warp.cta->failed()) copy_by_lane(warp, lane, issue);
  });
}

void exec_bulk_commit(Warp& warp, const Instr&) {
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) { ++warp.bulk_groups[l]; });
}

void exec_bulk_wait(Warp& warp, const Instr& in) {
  const auto& op = in.as<BulkWaitOperands>();
  complete_stores(warp, warp.exec, op.keep, op.only_reads);
}

}  // namespace evo::ptx
