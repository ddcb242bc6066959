#include "engine/device/virtual/execute/exec_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/access_counts.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes ld, st and fences. The elements of a vector access are adjacent in memory, and each has
// its own register.

namespace evo::ptx {
namespace {

using U128 = unsigned __int128;

void taint_loaded(Warp& warp, const AccessOperands& op, const LaneAccess& access,
                  std::uint32_t register_bytes) {
  const std::uint32_t total = static_cast<std::uint32_t>(op.bytes) * op.count;
  const auto* registers = warp.cta->program().registers_of(op.registers);
  for_lanes(warp.exec, [&](int lane) {
    const std::uint32_t taint = read_taint(warp, access, lane, total);
    if (taint != 0) {
      const bool is_global = ((access.global >> lane) & 1U) != 0;
      const std::uint64_t address = is_global ? access.address[static_cast<std::size_t>(lane)] : 0;
      const auto first = static_cast<std::uint64_t>(std::countr_zero(taint));
      take_foreign_taint(warp, {static_cast<int>(warp.pc), lane, is_global ? address + first : 0});
    }
    for (std::uint32_t e = 0; e < op.count; ++e) {
      std::uint32_t part = (taint >> (e * op.bytes)) & ((1U << op.bytes) - 1);
      // If a byte of the element is uninitialised, so are the bytes by which the element is
      // extended to the register's width.
      if (part != 0 && op.bytes < register_bytes)
        part |= ~((1U << op.bytes) - 1) & ((1U << register_bytes) - 1);
      if (registers[e] != kNoRegister) set_taint(warp, registers[e], register_bytes, lane, part);
    }
  });
}

AccessKind kind_of(const AccessOrder& order) {
  return order.strong ? AccessKind::kStrong : AccessKind::kPlain;
}

/// True if an access is strong for other CTAs, not only among the threads of its own CTA.
bool is_strong(const AccessOrder& order) { return order.strong && !order.of_cta; }

/// Extends an element to a register's width, by zeros or by its sign, depending on its type.
template <typename R, typename M>
[[gnu::always_inline]] inline R widened(M value) {
  return static_cast<R>(value);  // NOLINT(bugprone-signed-char-misuse): sign extension is intended
}

/// Reads the elements that are `offset` bytes after the addresses of the lanes.
template <typename M, typename R>
[[gnu::always_inline]] inline void read_elements(R* dst, const LaneAccess& access,
                                                 std::uint32_t mask, std::uint32_t offset,
                                                 std::uint32_t bytes_apart) {
  if (access.pattern == LanePattern::kUniform) {
    std::fill_n(dst, kWarpSize, widened<R>(read_guest<M>(access.pointer[0] + offset)));
    return;
  }
  const bool is_one_piece =
      access.pattern == LanePattern::kContiguous && bytes_apart == sizeof(M) && access.is_still();
  if (is_one_piece) {
    std::array<M, kWarpSize> values;
    std::memcpy(values.data(), access.pointer[0] + offset, sizeof(values));
    for (std::size_t l = 0; l < kWarpSize; ++l) dst[l] = widened<R>(values[l]);
    return;
  }
  for_lanes<std::size_t>(
      mask, [&](std::size_t l) { dst[l] = widened<R>(read_guest<M>(access.pointer[l] + offset)); });
}

/// Tells the scheduler about a strong read and the value that the first lane reads, because a
/// polling warp usually reads one address in all lanes. A warp that also polls global memory does
/// not wait in vain for an mbarrier: another CTA may let it continue.
template <typename M>
void note_strong_read(Warp& warp, const LaneAccess& access) {
  WarpScheduler& scheduler = warp.cta->scheduler();
  if (scheduler.note_poll()) warp.yield = true;
  warp.vain_waits = 0;
  const auto lane = static_cast<std::size_t>(std::countr_zero(access.global));
  const M read = read_guest<M>(access.pointer[lane]);
  std::uint64_t value = 0;
  std::memcpy(&value, &read, std::min(sizeof(read), sizeof(value)));
  if (scheduler.stands_aside_after_read(access.address[lane], value)) warp.yield = true;
}

template <typename M, typename R>
void load(Warp& warp, const Instr& in) {
  const auto& op = in.as<AccessOperands>();
  const std::uint32_t total = static_cast<std::uint32_t>(sizeof(M)) * op.count;
  const auto address = lane_addresses(warp, op.address);
  report_tainted_address(warp, op.address, warp.exec);
  const LaneAccess access = resolve(warp, op.space, address, warp.exec, total, AccessIntent::kRead);
  if (!access.ok) return;
  const std::uint32_t unwritten =
      access.in_shared() ? note_shared_read(warp, access, total, kind_of(op.order)) : 0;
  if (op.order.read_only) check_read_only_load(warp, access, total);
  if (warp.cta->launch().owners != nullptr) require_still(warp, access);
  const auto* registers = warp.cta->program().registers_of(op.registers);
  const auto read = [&](std::uint32_t lanes, const LaneAccess& from) {
    for (std::uint32_t e = 0; e < op.count; ++e) {
      if (registers[e] == kNoRegister) continue;
      read_elements<M>(warp.reg<R>(registers[e]), from, lanes,
                       e * static_cast<std::uint32_t>(sizeof(M)), total);
    }
  };
  WatchedPlaces places(warp, access, total);
  if (places.is_active() && is_strong(op.order)) {
    // see() records the stores whose values the read returns. The address stays locked until the
    // read of memory is done.
    const bool is_one_place = access.pattern == LanePattern::kUniform;
    for_lanes<std::size_t>(is_one_place ? 1U : warp.exec, [&](std::size_t lane) {
      places.enter(lane);
      const std::byte* const old = places.old_value();
      if (old == nullptr) {
        places.see();
        read(1U << lane, access);
      } else {
        LaneAccess replaced = access;
        replaced.pointer[lane] = const_cast<std::byte*>(old);
        read(1U << lane, replaced);
      }
    });
  } else {
    if (places.is_active()) note_global_read(warp, access, total);
    read(warp.exec, access);
  }
  const LaunchContext& launch = warp.cta->launch();
  if (launch.check && (warp.tainted || unwritten != 0 || access.tracked != 0)) {
    taint_loaded(warp, op, access, sizeof(R));
  }
  if (launch.count_memory) count_access(warp, access, total, false);
  if (op.order.strong) {
    if (access.global != 0) note_strong_read<M>(warp, access);
    for_lanes(warp.exec, [&](int lane) {
      acquire_from(warp, lane, address[static_cast<std::size_t>(lane)], op.order.acquire);
    });
  }
}

/// Records that a store wrote uninitialised data to global memory; bit b of `taint` is for byte b.
/// Returns false if the kernel may not store such data there. A workspace may hold uninitialised
/// data that no thread uses, such as the padding of a structure.
bool keep_taint(const Warp& warp, std::uint64_t address, std::uint32_t taint) {
  GlobalBuffer* const buffer = warp.cta->launch().memory->find(address);
  if (!buffer->is_kept) return false;
  buffer->mark_uninitialised(address - buffer->base, taint);
  return true;
}

void taint_stored(Warp& warp, const AccessOperands& op, const LaneAccess& access,
                  std::uint32_t register_bytes) {
  const auto* registers = warp.cta->program().registers_of(op.registers);
  std::uint32_t reported = 0;
  for_lanes(warp.exec, [&](int lane) {
    std::uint32_t taint = 0;
    for (std::uint32_t e = 0; e < op.count; ++e) {
      const std::uint32_t part =
          get_taint(warp, registers[e], register_bytes, lane) & ((1U << op.bytes) - 1);
      taint |= part << (e * op.bytes);
    }
    if (taint == 0) return;
    const auto l = static_cast<std::size_t>(lane);
    const std::uint32_t total = static_cast<std::uint32_t>(op.bytes) * op.count;
    if (((access.shared >> lane) & 1U) != 0) {
      warp.cta->races().add_taint(static_cast<std::uint32_t>(access.address[l]), taint);
    } else if (((access.remote >> lane) & 1U) != 0) {
      owner_at(*warp.cta->cluster(), access.address[l])
          .races()
          .add_taint(static_cast<std::uint32_t>(offset_in_cta(access.address[l])), taint);
    } else if (((access.local >> lane) & 1U) != 0) {
      for (std::uint32_t b = 0; b < total; ++b) {
        if (((taint >> b) & 1U) != 0) access.written[l][b] = 0;
      }
    } else if (!keep_taint(warp, access.address[l], taint)) {
      reported |= 1U << lane;
    }
  });
  if (reported != 0) report_tainted_use(warp, reported, "reach global memory");
}

template <typename M, typename R>
void store(Warp& warp, const Instr& in) {
  const auto& op = in.as<AccessOperands>();
  const std::uint32_t total = static_cast<std::uint32_t>(sizeof(M)) * op.count;
  const auto address = lane_addresses(warp, op.address);
  report_tainted_address(warp, op.address, warp.exec);
  const LaneAccess access =
      resolve(warp, op.space, address, warp.exec, total, AccessIntent::kWrite);
  if (!access.ok || note_owner(warp, access, total)) return;
  if (op.order.strong) {
    if (op.order.release && !op.order.of_cta) note_published(warp);
    for_lanes(warp.exec, [&](int lane) {
      release_to(warp, lane, address[static_cast<std::size_t>(lane)], op.order.release);
    });
  }
  alignas(64) std::byte values[kWarpSize * 64];
  const auto* registers = warp.cta->program().registers_of(op.registers);
  for (std::uint32_t e = 0; e < op.count; ++e) {
    const R* src = warp.reg<const R>(registers[e]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      const M value = static_cast<M>(src[lane]);
      std::memcpy(values + lane * total + e * sizeof(M), &value, sizeof(M));
    }
  }
  const LaunchContext& launch = warp.cta->launch();
  if (access.in_shared()) note_shared_write(warp, access, total, kind_of(op.order), values);
  WarpScheduler& scheduler = warp.cta->scheduler();
  if ((access.global | access.remote) != 0) scheduler.note_progress();
  const bool may_be_signal = access.global != 0 && is_strong(op.order);
  if (may_be_signal && scheduler.stands_aside_after_change()) warp.yield = true;
  WatchedPlaces places(warp, access, total);
  const auto put = [&](std::size_t l) {
    copy_to_guest(access.pointer[l], values + l * total, total);
    if (std::uint8_t* marks = access.marks(l)) mark_written(marks, total);
  };
  std::size_t done = 0;
  while (const std::size_t piece = places.write_piece(done, values)) {
    for (const std::size_t end = done + piece; done < end; ++done) put(done);
  }
  if (done == 0) {
    for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
      if (places.is_active()) {
        places.enter(l);
        is_strong(op.order) ? places.store(values + l * total) : places.write(values + l * total);
      }
      put(l);
    });
  }
  if (warp.tainted && launch.check) taint_stored(warp, op, access, sizeof(R));
  if (launch.count_memory) count_access(warp, access, total, true);
}

template <typename M, typename R>
void load_parameter(Warp& warp, const Instr& in) {
  const auto& op = in.as<ParameterOperands>();
  const auto& block = warp.cta->launch().parameters;
  M value{};
  std::memcpy(&value, block.data() + op.offset, sizeof(M));
  R* dst = warp.reg<R>(op.dst);
  for_lanes(warp.exec, [&](int lane) { dst[lane] = widened<R>(value); });
}

struct LoadFamily {
  template <typename M, typename R>
  static Handler pick() {
    return load<M, R>;
  }
};
struct StoreFamily {
  template <typename M, typename R>
  static Handler pick() {
    return store<M, R>;
  }
};
struct ParameterFamily {
  template <typename M, typename R>
  static Handler pick() {
    return load_parameter<M, R>;
  }
};

template <typename Family, typename M>
Handler pick_register(int register_bytes) {
  switch (register_bytes) {
    case 2:
      return sizeof(M) <= 2 ? Family::template pick<M, std::uint16_t>() : nullptr;
    case 4:
      return sizeof(M) <= 4 ? Family::template pick<M, std::uint32_t>() : nullptr;
    case 8:
      return sizeof(M) <= 8 ? Family::template pick<M, std::uint64_t>() : nullptr;
    case 16:
      return Family::template pick<M, U128>();
    default:
      return nullptr;
  }
}

template <typename Family>
Handler pick_memory(int memory_bytes, bool is_signed, int register_bytes) {
  switch (memory_bytes) {
    case 1:
      return is_signed ? pick_register<Family, std::int8_t>(register_bytes)
                       : pick_register<Family, std::uint8_t>(register_bytes);
    case 2:
      return is_signed ? pick_register<Family, std::int16_t>(register_bytes)
                       : pick_register<Family, std::uint16_t>(register_bytes);
    case 4:
      return is_signed ? pick_register<Family, std::int32_t>(register_bytes)
                       : pick_register<Family, std::uint32_t>(register_bytes);
    case 8:
      return pick_register<Family, std::uint64_t>(register_bytes);
    case 16:
      return pick_register<Family, U128>(register_bytes);
    default:
      return nullptr;
  }
}

}  // namespace

Handler load_handler(int memory_bytes, bool is_signed, int register_bytes) {
  return pick_memory<LoadFamily>(memory_bytes, is_signed, register_bytes);
}

Handler store_handler(int memory_bytes, int register_bytes) {
  return pick_memory<StoreFamily>(memory_bytes, false, register_bytes);
}

Handler load_parameter_handler(int memory_bytes, bool is_signed, int register_bytes) {
  return pick_memory<ParameterFamily>(memory_bytes, is_signed, register_bytes);
}

namespace {

void fence(Warp& warp, bool of_cta) {
  Cta& cta = *warp.cta;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // orders accesses of CTAs on other host threads
  cta.races().clocks().acquire(warp.index, warp.exec, warp.alive, cta.observed(warp.index));
  if (!of_cta) note_published(warp);
  cta.fenced(warp.index).join(cta.races().clocks().released(warp.index, warp.exec, warp.alive));
  cta.races().clocks().tick(warp.index);
}

}  // namespace

void exec_cta_fence(Warp& warp, const Instr&) { fence(warp, true); }

void exec_fence(Warp& warp, const Instr&) { fence(warp, false); }

void exec_proxy_fence(Warp& warp, const Instr&) {
  warp.cta->races().fence_proxy(warp.index, warp.exec, warp.exec == warp.alive);
}

}  // namespace evo::ptx
