#include <array>
#include <cstring>

#include "engine/device/virtual/checks/cluster_races.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/exec_bulk.hpp"
#include "engine/device/virtual/execute/exec_mbarrier.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/cluster_access.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes st.async, which stores to the shared memory of a CTA of the cluster and signals the
// number of bytes to an mbarrier of the same CTA. The virtual GPU stores at once, but reports an
// access to the bytes by a thread that has not waited for the mbarrier.

namespace evo::ptx {
namespace {

constexpr std::uint32_t kMostStored = 32;

/// A store by one lane.
struct LaneStore {
  int lane = 0;
  std::uint64_t to = 0;
  std::uint64_t barrier = 0;
  std::uint32_t bytes = 0;
  std::array<std::byte, kMostStored> values{};
};

/// Checks the store against earlier accesses to its destination.
void check_destination(Warp& warp, Cta& owner, const LaneStore& store,
                       const RaceChecker::Access& access) {
  if (&owner != warp.cta) {
    check_remote_copy(warp, owner, store.lane, static_cast<std::uint32_t>(*access.address),
                      store.bytes);
    return;
  }
  const auto result = owner.races().begin_async(access);
  if (!result.conflicts.empty()) report_conflicts(warp, result, "st.async");
}

void store_lane(Warp& warp, const LaneStore& store) {
  Cta* const owner = owner_of(warp, store.lane, store.to, store.bytes, "st.async");
  const Cta* const signalled =
      owner == nullptr ? nullptr : owner_of(warp, store.lane, store.barrier, 8, "st.async");
  if (signalled == nullptr) return;
  const std::uint64_t to = offset_in_cta(store.to);
  const std::uint64_t at = offset_in_cta(store.barrier);
  if (signalled != owner || to % store.bytes != 0) {
    warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                   "st.async by " + warp.cta->names().thread(warp.index, store.lane) +
                       ": its mbarrier must be in the CTA of its destination, and the address of "
                       "its destination must be a multiple of the " +
                       std::to_string(store.bytes) + " stored bytes");
    return;
  }
  if (!note_remote_mbarrier(warp, *owner, store.lane, at)) return;
  MBarrier* const barrier = find_mbarrier(warp, *owner, at, static_cast<std::size_t>(store.lane));
  if (barrier == nullptr) return;
  barrier->is_foreign = true;
  if (barrier->copy_clock < 0) barrier->copy_clock = owner->new_copy_clock();
  const std::uint32_t time = owner->next_copy_time(barrier->copy_clock);
  if (owner->launch().check) {
    RaceChecker::Access access{.warp = warp.index,
                               .pc = warp.pc,
                               .mask = 1,
                               .address = &to,
                               .bytes = store.bytes,
                               .kind = AccessKind::kPlain};
    access.owner = store.lane;
    check_destination(warp, *owner, store, access);
    owner->races().complete_copy(access, barrier->copy_clock, time);
  }
  std::memcpy(owner->shared() + to, store.values.data(), store.bytes);
  const auto clock = static_cast<std::size_t>(barrier->copy_clock);
  barrier->arriving[clock] = time;
  barrier->transactions -= store.bytes;
  warp.cta->scheduler().note_progress();
  complete_phase_if_done(*owner, *barrier, at);
}

}  // namespace

void exec_async_store(Warp& warp, const Instr& in) {
  const auto& op = in.as<AsyncStoreOperands>();
  const auto* registers = warp.cta->program().registers_of(op.registers);
  const auto addresses_of = [&](std::uint32_t base, bool is_wide, std::int32_t offset) {
    const Address at{.base = base, .is_wide = is_wide, .offset = offset};
    report_tainted_address(warp, at, warp.exec);
    return lane_addresses(warp, at);
  };
  const auto to = addresses_of(registers[0], op.to_is_wide, op.to_offset);
  const auto barrier = addresses_of(registers[1], op.barrier_is_wide, op.barrier_offset);
  constexpr std::uint32_t kFirst = 2;
  if (warp.cta->cluster() == nullptr) {
    warp.cta->fail(HazardKind::kUnsupported, pc_of(warp), -1,
                   "st.async in a kernel without clusters (__cluster_dims__)");
    return;
  }
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    if (warp.cta->failed()) return;
    LaneStore store{.lane = static_cast<int>(l),
                    .to = to[l],
                    .barrier = barrier[l],
                    .bytes = op.bytes * (op.registers.count - kFirst)};
    for (std::uint32_t e = 0; e + kFirst < op.registers.count; ++e) {
      const std::uint32_t from = registers[e + kFirst];
      const std::byte* reg = warp.reg<const std::byte>(from) + l * op.bytes;
      std::memcpy(store.values.data() + std::size_t{e} * op.bytes, reg, op.bytes);
      if (warp.tainted && get_taint(warp, from, op.bytes, static_cast<int>(l)) != 0)
        report_tainted_use(warp, 1U << l, "are stored by st.async");
    }
    store_lane(warp, store);
  });
}

}  // namespace evo::ptx
