#include "engine/device/virtual/execute/exec_async.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/access_counts.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes cp.async. The source of the copy is read when the cp.async is issued. The virtual GPU
// writes the data when the thread waits for the copy, which is the latest time that PTX allows, or
// executes cp.async.mbarrier.arrive. An access to the destination by any thread before this time is
// reported. After cp.async.mbarrier.arrive, an access is also reported if it is not ordered after a
// wait for the phase of the mbarrier.

namespace evo::ptx {
namespace {

/// The number of bytes that cp.async copies from the source of each lane; the rest of the lane's
/// destination becomes 0.
std::array<std::uint32_t, kWarpSize> source_bytes(Warp& warp, const CopyOperands& op) {
  std::array<std::uint32_t, kWarpSize> bytes;
  bytes.fill(op.bytes);
  if (op.size == CopySize::kBytes) {
    const auto* size = warp.reg<const std::uint32_t>(op.size_or_ignore);
    for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
      bytes[l] = size[l];
      if (size[l] <= op.bytes) return;
      warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                     "cp.async with a source size of " + std::to_string(size[l]) +
                         " bytes, above its copy size of " + std::to_string(op.bytes) + ", in " +
                         warp.cta->names().thread(warp.index, static_cast<int>(l)));
    });
  } else if (op.size == CopySize::kIgnore) {
    std::uint32_t ignore = warp.predicate(op.size_or_ignore);
    if (op.negated) ignore = ~ignore;
    for_lanes<std::size_t>(
        warp.exec, [&](std::size_t l) { bytes[l] = ((ignore >> l) & 1U) != 0 ? 0 : bytes[l]; });
  }
  return bytes;
}

/// Adds the lanes of `part` to `access`; both are accesses to global memory by the same
/// instruction.
void add_lanes(LaneAccess& access, const LaneAccess& part) {
  for_lanes<std::size_t>(part.global, [&](std::size_t l) {
    access.address[l] = part.address[l];
    access.pointer[l] = part.pointer[l];
    access.written[l] = part.written[l];
  });
  access.global |= part.global;
  access.tracked |= part.tracked;
  access.pattern = LanePattern::kScattered;
  access.buffer = nullptr;
}

/// Finds and checks the memory that a cp.async reads, `bytes[l]` bytes for each lane l. Only these
/// bytes must lie in a buffer, but the address must be a multiple of the copy size.
LaneAccess read_source(Warp& warp, const CopyOperands& op,
                       const std::array<std::uint32_t, kWarpSize>& bytes) {
  LaneAccess source;
  source.ok = true;
  const auto address = lane_addresses(warp, op.from);
  std::uint32_t left = 0;
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) { left |= bytes[l] > 0 ? 1U << l : 0U; });
  while (left != 0) {
    const std::uint32_t count = bytes[static_cast<std::size_t>(std::countr_zero(left))];
    std::uint32_t lanes = 0;
    for_lanes<std::size_t>(left, [&](std::size_t l) { lanes |= bytes[l] == count ? 1U << l : 0U; });
    const LaneAccess part =
        resolve(warp, Space::kGlobal, address, lanes, count, AccessIntent::kRead, op.bytes);
    if (!part.ok) return part;
    note_global_read(warp, part, count);
    left &= ~lanes;
    if (left == 0 && source.global == 0) return part;
    add_lanes(source, part);
  }
  return source;
}

/// A mask of the uninitialised bytes in the source of a lane; bit b is for byte b.
std::uint16_t source_taint(const Warp& warp, const LaneAccess& source, std::size_t lane,
                           std::uint32_t bytes) {
  if (!warp.cta->launch().check || source.marks(lane) == nullptr) return 0;
  return static_cast<std::uint16_t>(read_taint(warp, source, static_cast<int>(lane), bytes));
}

/// Adds the copies of a cp.async instruction to the warp. All lanes that have committed the same
/// number of groups share one record.
void enqueue(Warp& warp, const CopyOperands& op, const LaneAccess& destination,
             const LaneAccess& source, const std::array<std::uint32_t, kWarpSize>& bytes) {
  std::uint32_t left = warp.exec;
  while (left != 0) {
    const std::uint32_t group = warp.committed[static_cast<std::size_t>(std::countr_zero(left))];
    AsyncCopy& copy = warp.copies.emplace_back();
    copy.group = group;
    copy.pc = warp.pc;
    copy.bytes = op.bytes;
    for_lanes<std::size_t>(left, [&](std::size_t l) {
      if (warp.committed[l] != group) return;
      copy.mask |= 1U << l;
      copy.destination[l] = static_cast<std::uint32_t>(destination.address[l]);
      if (bytes[l] == 0) return;
      // Copies the bytes of an incomplete source one by one, because a wider access may exceed it.
      const std::uint32_t width = bytes[l] == op.bytes ? op.bytes : 1;
      for (std::uint32_t at = 0; at < bytes[l]; at += width) {
        copy_from_guest(copy.data[l].data() + at, source.pointer[l] + at, width);
      }
      std::fill(copy.data[l].begin() + bytes[l], copy.data[l].end(), std::byte{0});
      copy.taint[l] = source_taint(warp, source, l, bytes[l]);
    });
    left &= ~copy.mask;
  }
}

}  // namespace

void exec_cp_async(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto& op = in.as<CopyOperands>();
  const auto bytes = source_bytes(warp, op);
  if (cta.failed()) return;
  const auto to = shared_addresses(warp, op.to);
  report_tainted_address(warp, op.to, warp.exec);
  const LaneAccess destination =
      resolve(warp, Space::kShared, to, warp.exec, op.bytes, AccessIntent::kWrite);
  if (!destination.ok) return;
  const LaneAccess source = read_source(warp, op, bytes);
  if (!source.ok) return;
  if (cta.launch().check) {
    const auto result = cta.races().begin_async(
        {warp.index, warp.pc, warp.exec, destination.address.data(), op.bytes, AccessKind::kPlain});
    if (!result.conflicts.empty()) report_conflicts(warp, result, "cp.async");
  }
  enqueue(warp, op, destination, source, bytes);
  if (cta.launch().count_memory) {
    constexpr std::uint32_t kWhole = 16;  // counted as cp.async.cg, which bypasses L1
    count_access(warp, source, op.bytes, false);
    if (op.bytes == kWhole) {
      count_copy(warp, source, destination);
    } else {
      count_access(warp, destination, op.bytes, true);
    }
  }
}

void exec_commit_group(Warp& warp, const Instr&) {
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) { ++warp.committed[l]; });
}

namespace {

/// Writes the data of the committed copies of the lanes in `mask`, except those in the `keep`
/// newest committed groups (−1: all copies), and passes each lane's write to `complete` for the
/// race checker.
template <typename Complete>
void write_copies(Warp& warp, std::uint32_t mask, std::int64_t keep, const Complete& complete) {
  Cta& cta = *warp.cta;
  for (AsyncCopy& copy : warp.copies) {
    std::uint32_t ready = 0;
    for_lanes<std::size_t>(copy.mask & mask, [&](std::size_t l) {
      const auto newer =
          static_cast<std::int64_t>(warp.committed[l]) - static_cast<std::int64_t>(copy.group);
      if (keep < 0 || newer > keep) ready |= 1U << l;
    });
    if (ready == 0) continue;
    std::array<std::uint64_t, kWarpSize> address{};
    for_lanes<std::size_t>(ready, [&](std::size_t l) {
      address[l] = copy.destination[l];
      copy_to_guest(cta.shared() + copy.destination[l], copy.data[l].data(), copy.bytes);
    });
    if (cta.launch().check) {
      complete(RaceChecker::Access{warp.index, copy.pc, ready, address.data(), copy.bytes,
                                   AccessKind::kPlain});
      for_lanes<std::size_t>(ready, [&](std::size_t l) {
        if (copy.taint[l] != 0) cta.races().add_taint(copy.destination[l], copy.taint[l]);
      });
    }
    copy.mask &= ~ready;
  }
  std::erase_if(warp.copies, [](const AsyncCopy& copy) { return copy.mask == 0; });
}

}  // namespace

void finish_copies(Warp& warp, std::uint32_t mask, std::int64_t keep) {
  write_copies(warp, mask, keep, [&](const RaceChecker::Access& access) {
    warp.cta->races().complete_async(access);
  });
  if (keep > 0) return;
  // The warp has also waited for the copies that it passed to mbarriers.
  VectorClock& own = warp.cta->races().clocks().of(warp.index);
  for (std::size_t i = 0; i < warp.tracked_copies.size(); ++i) {
    own[kMaxWarps + i] = std::max(own[kMaxWarps + i], warp.tracked_copies[i]);
  }
}

void finish_copies_for(Warp& warp, std::uint32_t mask, MBarrier& barrier) {
  Cta& cta = *warp.cta;
  if (barrier.copy_clock < 0) barrier.copy_clock = cta.new_copy_clock();
  const std::uint32_t time = cta.next_copy_time(barrier.copy_clock);
  write_copies(warp, mask, -1, [&](const RaceChecker::Access& access) {
    cta.races().complete_copy(access, barrier.copy_clock, time);
  });
  barrier.arriving[static_cast<std::size_t>(barrier.copy_clock)] = time;
  warp.tracked_copies[static_cast<std::size_t>(barrier.copy_clock - kMaxWarps)] = time;
}

void exec_wait_group(Warp& warp, const Instr& in) {
  finish_copies(warp, warp.exec, in.as<WaitGroupOperands>().keep);
}

}  // namespace evo::ptx
