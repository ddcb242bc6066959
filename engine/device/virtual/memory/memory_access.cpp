#include "engine/device/virtual/memory/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/device/virtual/checks/cluster_races.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/cluster_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/parameter_space.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint64_t kWindowBytes = 1ULL << 32;

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

const char* verb_of(AccessIntent intent) {
  return intent == AccessIntent::kWrite       ? "write"
         : intent == AccessIntent::kReadWrite ? "atomic"
                                              : "read";
}

std::string access_text(AccessIntent intent, std::uint32_t bytes) {
  return std::string(verb_of(intent)) + " of " + std::to_string(bytes) + " bytes";
}

std::string access_text(const Warp& warp, AccessIntent intent, std::uint32_t bytes, int lane) {
  return access_text(intent, bytes) + " by " + warp.cta->names().thread(warp.index, lane);
}

bool check_alignment(Warp& warp, const std::array<std::uint64_t, kWarpSize>& address,
                     const LaneSurvey& survey, std::uint32_t mask, std::uint32_t bytes,
                     AccessIntent intent, std::uint32_t alignment) {
  if ((survey.bits & (alignment - 1)) == 0) return true;
  for_lanes(mask, [&](int lane) {
    const std::uint64_t a = address[static_cast<std::size_t>(lane)];
    if ((a & (alignment - 1)) == 0) return;
    warp.cta->fail(HazardKind::kMisaligned, pc_of(warp), -1,
                   access_text(warp, intent, bytes, lane) + " at address " + hex(a) +
                       ", which is not a multiple of " + std::to_string(alignment));
  });
  return false;
}

bool resolve_shared(Warp& warp, LaneAccess& access, const LaneSurvey& survey, std::uint32_t mask,
                    std::uint32_t bytes, AccessIntent intent, bool in_cluster = false) {
  Cta& cta = *warp.cta;
  const std::uint64_t limit = cta.shared_bytes();
  access.shared = mask;
  if (survey.highest < kWindowBytes && survey.highest + bytes <= limit) {
    access.pattern = survey.pattern;
    point_lanes(access.address.data(), mask, 0, cta.shared(), access.pointer.data());
    return true;
  }
  if (in_cluster && cta.cluster() != nullptr && survey.highest < kWindowBytes)
    return resolve_in_cluster(warp, access, mask, bytes, verb_of(intent));
  for_lanes(mask, [&](int lane) {
    const std::uint64_t a = access.address[static_cast<std::size_t>(lane)];
    if (a < kWindowBytes && a + bytes <= limit) return;
    cta.fail(HazardKind::kOutOfBounds, pc_of(warp), -1,
             access_text(warp, intent, bytes, lane) + " at shared address " + hex(a) +
                 "; the CTA has " + std::to_string(limit) + " bytes of shared memory");
  });
  return false;
}

bool resolve_local(Warp& warp, LaneAccess& access, std::uint32_t mask, std::uint32_t bytes,
                   AccessIntent intent) {
  Cta& cta = *warp.cta;
  const std::uint64_t limit = cta.program().local_bytes;
  bool good = true;
  for_lanes(mask, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    const std::uint64_t a = access.address[l];
    if (a >= kWindowBytes || a + bytes > limit) {
      good = false;
      cta.fail(HazardKind::kOutOfBounds, pc_of(warp), -1,
               access_text(warp, intent, bytes, lane) + " at local address " + hex(a) +
                   "; a thread has " + std::to_string(limit) + " bytes of local memory");
      return;
    }
    access.pointer[l] = cta.local(warp, lane) + a;
    access.written[l] = cta.local_written(warp, lane) + a;
  });
  access.local = mask;
  access.tracked |= mask;
  return good;
}

/// Resolves addresses of kernel parameters and, below them, of the .param variables of calls.
bool resolve_parameters(Warp& warp, LaneAccess& access, std::uint32_t mask, std::uint32_t bytes,
                        AccessIntent intent) {
  std::vector<std::byte>& parameters = warp.cta->launch().parameters;
  const std::uint64_t limit = warp.cta->program().parameter_bytes;
  std::uint32_t local = 0;
  bool good = true;
  for_lanes(mask, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    if (access.address[l] < kKernelParameters) {
      local |= 1U << lane;
      return;
    }
    const std::uint64_t at = access.address[l] - kKernelParameters;
    if (intent == AccessIntent::kRead && at + bytes <= limit) {
      access.pointer[l] = parameters.data() + at;
      return;
    }
    good = false;
    warp.cta->fail(HazardKind::kOutOfBounds, pc_of(warp), -1,
                   access_text(warp, intent, bytes, lane) + " at byte " + std::to_string(at) +
                       " of the kernel's parameters, which are " + std::to_string(limit) +
                       " bytes and cannot be written");
  });
  if (local != 0) good &= resolve_local(warp, access, local, bytes, intent);
  return good;
}

/// Resolves an access if all lanes access `buffer` and the buffer allows the access. Returns false
/// if each lane must be resolved separately.
bool resolve_in_buffer(LaneAccess& access, const GlobalBuffer& buffer, const LaneSurvey& survey,
                       std::uint32_t mask, std::uint32_t bytes, bool writes) {
  if (!buffer.contains(survey.lowest, bytes) || !buffer.contains(survey.highest, bytes) ||
      (writes && !buffer.writable)) {
    return false;
  }
  access.buffer = &buffer;
  access.pattern = survey.pattern;
  point_lanes(access.address.data(), mask, buffer.base, buffer.data.get(), access.pointer.data());
  if (buffer.all_written.load(std::memory_order_relaxed)) return true;
  access.tracked |= mask;
  for_lanes<std::size_t>(mask, [&](std::size_t l) {
    access.written[l] = buffer.written.get() + (access.address[l] - buffer.base);
  });
  return true;
}

/// Reports the lanes that access memory before they execute griddepcontrol.wait, although the
/// previous kernel may still write this memory.
void check_grid_wait(Warp& warp, const LaneAccess& access, std::uint32_t mask, std::uint32_t bytes,
                     AccessIntent intent) {
  for_lanes(early_lanes(warp, mask), [&](int lane) {
    const GlobalMemory& memory = *warp.cta->launch().memory;
    const std::uint64_t address = access.address[static_cast<std::size_t>(lane)];
    const GlobalBuffer* const buffer = memory.find(address);
    if (buffer == nullptr || buffer->is_private) return;
    report_early(warp, lane, access_text(intent, bytes) + " at " + memory.describe(address));
  });
}

bool resolve_global(Warp& warp, LaneAccess& access, const LaneSurvey& survey, std::uint32_t mask,
                    std::uint32_t bytes, AccessIntent intent) {
  Cta& cta = *warp.cta;
  GlobalBuffer*& cached = cta.buffer_cache()[warp.pc];
  const bool writes = intent == AccessIntent::kWrite || intent == AccessIntent::kReadWrite;
  access.global = mask;
  if (cta.program().waits_for_grid) check_grid_wait(warp, access, mask, bytes, intent);
  if (cached != nullptr && resolve_in_buffer(access, *cached, survey, mask, bytes, writes))
    return true;
  bool good = true;
  for_lanes(mask, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    const std::uint64_t a = access.address[l];
    GlobalBuffer* buffer = cached;
    if (buffer == nullptr || !buffer->contains(a, bytes)) {
      buffer = cta.launch().memory->find(a);
      if (buffer == nullptr || !buffer->contains(a, bytes)) {
        good = false;
        cta.fail(HazardKind::kOutOfBounds, pc_of(warp), -1,
                 access_text(warp, intent, bytes, lane) + " at global address " + hex(a) + ", " +
                     cta.launch().memory->describe(a));
        return;
      }
      cached = buffer;
    }
    if (writes && !buffer->writable) {
      good = false;
      cta.fail(HazardKind::kReadOnlyWrite, pc_of(warp), -1,
               access_text(warp, intent, bytes, lane) + " to " + cta.launch().memory->describe(a));
      return;
    }
    access.pointer[l] = buffer->data.get() + (a - buffer->base);
    if (buffer->all_written.load(std::memory_order_relaxed)) return;
    access.tracked |= 1U << lane;
    access.written[l] = buffer->written.get() + (a - buffer->base);
  });
  return good;
}

/// Resolves generic addresses: groups the lanes by the state space to which their addresses belong.
bool resolve_generic(Warp& warp, LaneAccess& access, std::uint32_t mask, std::uint32_t bytes,
                     AccessIntent intent) {
  std::uint32_t shared = 0;
  std::uint32_t local = 0;
  std::uint32_t parameters = 0;
  for_lanes(mask, [&](int lane) {
    std::uint64_t& a = access.address[static_cast<std::size_t>(lane)];
    if (a - kSharedWindow < kWindowBytes) {
      shared |= 1U << lane;
      a -= kSharedWindow;
    } else if (a - kLocalWindow < kWindowBytes) {
      local |= 1U << lane;
      a -= kLocalWindow;
    } else if (a - kParameterWindow < kWindowBytes) {
      parameters |= 1U << lane;
      a -= kParameterWindow;
    }
  });
  const std::uint32_t global = mask & ~(shared | local | parameters);
  const auto survey = [&](std::uint32_t lanes) {
    return survey_lanes(access.address.data(), lanes, bytes);
  };
  bool good = true;
  // A launch of a slice records stores to global memory only (store_slice.hpp).
  const bool is_traced = intent != AccessIntent::kRead && warp.cta->launch().owners != nullptr;
  if (is_traced && shared == mask) return false;
  if (shared != 0 && !is_traced)
    good &= resolve_shared(warp, access, survey(shared), shared, bytes, intent, true);
  if (local != 0) good &= resolve_local(warp, access, local, bytes, intent);
  if (parameters != 0) good &= resolve_parameters(warp, access, parameters, bytes, intent);
  if (global != 0) good &= resolve_global(warp, access, survey(global), global, bytes, intent);
  return good;
}

bool same_value(const Conflict& conflict, const LaneAccess& access, std::uint32_t bytes,
                const std::byte* values, std::uint32_t granule) {
  // Compares the lane's new bytes in the conflicting granule with the bytes in memory. If two lanes
  // of one store conflict, same_store_value() compares the new bytes of both lanes.
  const auto lane = static_cast<std::size_t>(conflict.lane);
  const std::uint64_t offset =
      conflict.address - std::min<std::uint64_t>(access.address[lane], conflict.address);
  const std::uint32_t count = std::min(granule, bytes);
  return std::memcmp(values + lane * bytes + offset, access.pointer[lane] + offset, count) == 0;
}

bool same_store_value(const Conflict& conflict, const LaneAccess& access, std::uint32_t bytes,
                      const std::byte* values, std::uint32_t granule) {
  const auto lane = static_cast<std::size_t>(conflict.lane);
  const auto other = static_cast<std::size_t>(conflict.other_lane);
  if (other >= kWarpSize || conflict.address < access.address[other]) return false;
  const std::uint64_t mine =
      conflict.address - std::min<std::uint64_t>(access.address[lane], conflict.address);
  const std::uint64_t theirs = conflict.address - access.address[other];
  if (theirs >= bytes) return false;
  const std::uint32_t count = std::min(granule, bytes);
  return std::memcmp(values + lane * bytes + mine, values + other * bytes + theirs, count) == 0;
}

}  // namespace

std::array<std::uint64_t, kWarpSize> lane_addresses(const Warp& warp, const Address& from) {
  std::array<std::uint64_t, kWarpSize> address;
  const auto add = static_cast<std::uint64_t>(from.offset);
  if (from.base == kNoRegister) {
    address.fill(add);
  } else if (from.is_wide) {
    const auto* value = warp.reg<const std::uint64_t>(from.base);
    for (std::size_t l = 0; l < kWarpSize; ++l) address[l] = value[l] + add;
  } else {
    const auto* value = warp.reg<const std::uint32_t>(from.base);
    for (std::size_t l = 0; l < kWarpSize; ++l) {
      address[l] = static_cast<std::uint32_t>(value[l] + static_cast<std::uint32_t>(add));
    }
  }
  return address;
}

std::array<std::uint64_t, kWarpSize> shared_addresses(const Warp& warp, const Address& from) {
  auto address = lane_addresses(warp, from);
  for (std::uint64_t& a : address) {
    if (a - kSharedWindow < (1ULL << 32)) a -= kSharedWindow;
  }
  return address;
}

void report_tainted_address(Warp& warp, const Address& from, std::uint32_t mask) {
  if (!warp.tainted || from.base == kNoRegister) return;
  const std::uint32_t lanes = tainted_lanes(warp, from.base, from.is_wide ? 8 : 4, mask);
  if (lanes != 0) report_tainted_use(warp, lanes, "form an address");
}

LaneAccess resolve(Warp& warp, Space space, const std::array<std::uint64_t, kWarpSize>& address,
                   std::uint32_t mask, std::uint32_t bytes, AccessIntent intent,
                   std::uint32_t alignment) {
  LaneAccess access;
  access.ok = mask == 0;
  if (access.ok) return access;
  access.address = address;
  const LaneSurvey survey = survey_lanes(address.data(), mask, bytes);
  const std::uint32_t multiple = alignment == 0 ? bytes : alignment;
  if (!check_alignment(warp, address, survey, mask, bytes, intent, multiple)) return access;
  switch (space) {
    case Space::kShared:
      access.ok = resolve_shared(warp, access, survey, mask, bytes, intent);
      break;
    case Space::kSharedCluster:
      access.ok = resolve_shared(warp, access, survey, mask, bytes, intent, true);
      break;
    case Space::kLocal:
      access.ok = resolve_local(warp, access, mask, bytes, intent);
      break;
    case Space::kParam:
      access.ok = resolve_parameters(warp, access, mask, bytes, intent);
      break;
    case Space::kGeneric:
      access.ok = resolve_generic(warp, access, mask, bytes, intent);
      break;
    default:
      access.ok = resolve_global(warp, access, survey, mask, bytes, intent);
      break;
  }
  return access;
}

std::uint32_t note_shared_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                               AccessKind kind) {
  if (!warp.cta->launch().check) return 0;
  auto result = warp.cta->races().read(
      {warp.index, warp.pc, access.shared, access.address.data(), bytes, kind, access.pattern});
  if (warp.cta->cluster() != nullptr) {
    drop_ordered(warp, result);
    check_remote(warp, access, bytes, kind, false, nullptr);
    result.unwritten |= note_remote(warp, access, bytes, kind, false, nullptr);
  }
  if (!result.conflicts.empty()) report_conflicts(warp, result, "read");
  return result.unwritten;
}

void note_shared_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                       const std::byte* values) {
  if (!warp.cta->launch().check) return;
  auto result = warp.cta->races().write(
      {warp.index, warp.pc, access.shared, access.address.data(), bytes, kind});
  if (warp.cta->cluster() != nullptr) {
    drop_ordered(warp, result);
    check_remote(warp, access, bytes, kind, true, values);
    note_remote(warp, access, bytes, kind, true, values);
  }
  if (result.conflicts.empty()) return;
  const auto granule = static_cast<std::uint32_t>(warp.cta->program().shared_granule);
  std::erase_if(result.conflicts, [&](const Conflict& conflict) {
    if (!conflict.other_is_write || conflict.other_is_async) return false;
    if (conflict.same_warp && conflict.other_pc == pc_of(warp)) {
      return same_store_value(conflict, access, bytes, values, granule) ||
             same_value(conflict, access, bytes, values, granule);
    }
    return same_value(conflict, access, bytes, values, granule);
  });
  report_conflicts(warp, result, "write");
}

void note_shared_atomic(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  if (!warp.cta->launch().check) return;
  auto result = warp.cta->races().atomic(
      {warp.index, warp.pc, access.shared, access.address.data(), bytes, AccessKind::kAtomic});
  if (warp.cta->cluster() != nullptr) {
    drop_ordered(warp, result);
    check_remote(warp, access, bytes, AccessKind::kAtomic, true, nullptr);
    note_remote(warp, access, bytes, AccessKind::kAtomic, true, nullptr);
  }
  if (!result.conflicts.empty()) report_conflicts(warp, result, "atomic");
}

std::uint32_t read_taint(const Warp& warp, const LaneAccess& access, int lane,
                         std::uint32_t bytes) {
  const auto l = static_cast<std::size_t>(lane);
  if (((access.shared >> lane) & 1U) != 0) {
    return warp.cta->races().taint_mask(static_cast<std::uint32_t>(access.address[l]), bytes);
  }
  if (((access.remote >> lane) & 1U) != 0) return remote_taint(warp, access.address[l], bytes);
  std::uint32_t mask = 0;
  const std::uint8_t* written = access.marks(l);
  for (std::uint32_t b = 0; written != nullptr && b < bytes; ++b) {
    if (!is_written(written + b)) mask |= 1U << b;
  }
  return mask;
}

void acquire_from(Warp& warp, int lane, std::uint64_t address, bool immediately) {
  if (warp.cta->cluster() != nullptr) acquire_in_cluster(warp, 1U << lane, address);
  const VectorClock* clock = warp.cta->find_sync_location(address);
  if (clock == nullptr) return;
  warp.cta->observed(warp.index).join(*clock);
  if (immediately) warp.cta->races().clocks().acquire(warp.index, 1U << lane, warp.alive, *clock);
}

void release_to(Warp& warp, int lane, std::uint64_t address, bool immediately) {
  if (warp.cta->cluster() != nullptr) release_in_cluster(warp, address);
  RaceChecker& races = warp.cta->races();
  warp.cta->sync_location(address).join(
      immediately ? races.clocks().released(warp.index, 1U << lane, warp.alive)
                  : warp.cta->fenced(warp.index));
  if (immediately) races.clocks().tick(warp.index);
}

}  // namespace evo::ptx
