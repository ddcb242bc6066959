#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"

// shfl, vote, match, redux, elect: values travel between the lanes of a warp.

namespace evo::ptx {
namespace {

template <typename F>
void for_lanes(std::uint32_t mask, F&& body) {
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    mask &= mask - 1;
    body(lane);
  }
}

/// The member mask of the first running lane; 0 when the lanes may not execute yet or are wrong.
std::uint32_t members(Warp& warp, std::uint32_t reg) {
  const std::uint32_t mask = warp.reg<const std::uint32_t>(reg)[std::countr_zero(warp.exec)];
  if ((mask & warp.exec) != warp.exec) {
    const int outsider = std::countr_zero(warp.exec & ~mask);
    warp.cta->fail(HazardKind::kDivergence, pc_of(warp), -1,
                   warp.cta->name_thread(warp.index, outsider) + " is not in its own member mask");
    return 0;
  }
  if (!converge(warp, mask)) return 0;
  sync_lanes(warp);
  return mask;
}

/// After the values of all `lanes` went into every result: one tainted lane taints all.
void spread_taint(Warp& warp, std::uint32_t source, std::uint32_t dst, std::uint32_t bytes) {
  if (!warp.tainted || dst == kNoRegister) return;
  const bool any = tainted_lanes(warp, source, bytes, warp.exec) != 0;
  for_lanes(warp.exec, [&](int lane) { set_taint(warp, dst, 4, lane, any ? 0xfU : 0U); });
}

void write_words(Warp& warp, std::uint32_t dst, std::uint32_t value) {
  for_lanes(warp.exec, [&](int lane) { warp.reg<std::uint32_t>(dst)[lane] = value; });
}

void write_predicate(Warp& warp, std::uint32_t dst, std::uint32_t value) {
  std::uint32_t& predicate = warp.predicate(dst);
  predicate = (predicate & ~warp.exec) | (value & warp.exec);
}

/// Source lane of each lane and whether it was in range, as PTX's shfl defines them.
struct Shuffle {
  std::array<int, kWarpSize> source;
  std::uint32_t in_range = 0;
};

Shuffle plan_shuffle(const Warp& warp, const Instr& in) {
  Shuffle plan{};
  const auto* b = warp.reg<const std::uint32_t>(in.src[1]);
  const auto* c = warp.reg<const std::uint32_t>(in.src[2]);
  for_lanes(warp.exec, [&](int lane) {
    const int bval = static_cast<int>(b[lane] & 31U);
    const int cval = static_cast<int>(c[lane] & 31U);
    const int segment = static_cast<int>((c[lane] >> 8) & 31U);
    const int max_lane = (lane & segment) | (cval & ~segment & 31);
    const int min_lane = lane & segment;
    int j = 0;
    bool ok = false;
    switch (in.aux) {
      case 0:
        j = lane - bval;
        ok = j >= max_lane;
        break;
      case 1:
        j = lane + bval;
        ok = j <= max_lane;
        break;
      case 2:
        j = lane ^ bval;
        ok = j <= max_lane;
        break;
      default:
        j = min_lane | (bval & ~segment & 31);
        ok = j <= max_lane;
        break;
    }
    plan.source[static_cast<std::size_t>(lane)] = ok ? j : lane;
    if (ok) plan.in_range |= 1U << lane;
  });
  return plan;
}

void taint_shuffled(Warp& warp, const Instr& in, const Shuffle& plan) {
  std::array<std::uint32_t, kWarpSize> old{};
  for (int lane = 0; lane < kWarpSize; ++lane)
    old[static_cast<std::size_t>(lane)] = get_taint(warp, in.src[0], 4, lane);
  for_lanes(warp.exec, [&](int lane) {
    const auto from = static_cast<std::size_t>(plan.source[static_cast<std::size_t>(lane)]);
    const bool takes_part = ((warp.exec >> from) & 1U) != 0;
    if (in.dst != kNoRegister) set_taint(warp, in.dst, 4, lane, takes_part ? old[from] : 0xfU);
    if (in.dst2 != kNoRegister) set_taint(warp, in.dst2, 4, lane, 0);
  });
}

}  // namespace

void exec_shuffle(Warp& warp, const Instr& in) {
  const std::uint32_t mask = members(warp, in.src[3]);
  if (mask == 0) return;
  const Shuffle plan = plan_shuffle(warp, in);
  std::array<std::uint32_t, kWarpSize> value;
  std::memcpy(value.data(), warp.regs + in.src[0], sizeof(value));
  for_lanes(warp.exec, [&](int lane) {
    // Reading a lane that does not take part gives an undefined value: a hazard only when used.
    const int from = plan.source[static_cast<std::size_t>(lane)];
    if (((warp.exec >> from) & 1U) == 0 && warp.cta->launch().check) take_foreign_taint(warp);
  });
  if (warp.tainted) taint_shuffled(warp, in, plan);
  if (in.dst != kNoRegister) {
    auto* dst = warp.reg<std::uint32_t>(in.dst);
    for_lanes(warp.exec, [&](int lane) {
      dst[lane] = value[static_cast<std::size_t>(plan.source[static_cast<std::size_t>(lane)])];
    });
  }
  if (in.dst2 != kNoRegister) write_predicate(warp, in.dst2, plan.in_range);
}

void exec_vote(Warp& warp, const Instr& in) {
  const std::uint32_t mask = members(warp, in.src[1]);
  if (mask == 0) return;
  spread_taint(warp, in.src[0], in.dst, 4);
  std::uint32_t votes = warp.predicate(in.src[0]);
  if (in.negated) votes = ~votes;
  votes &= warp.exec;
  switch (in.aux) {
    case 0:
      write_predicate(warp, in.dst, votes == warp.exec ? kAllLanes : 0);
      break;
    case 1:
      write_predicate(warp, in.dst, votes != 0 ? kAllLanes : 0);
      break;
    case 2:
      write_predicate(warp, in.dst, votes == warp.exec || votes == 0 ? kAllLanes : 0);
      break;
    default:
      write_words(warp, in.dst, votes);
      break;
  }
}

void exec_match(Warp& warp, const Instr& in) {
  const std::uint32_t mask = members(warp, in.src[1]);
  if (mask == 0) return;
  const bool wide = (in.aux & 2U) != 0;
  spread_taint(warp, in.src[0], in.dst, wide ? 8 : 4);
  const auto value = [&](int lane) {
    return wide ? warp.reg<const std::uint64_t>(in.src[0])[lane]
                : static_cast<std::uint64_t>(warp.reg<const std::uint32_t>(in.src[0])[lane]);
  };
  std::array<std::uint32_t, kWarpSize> same{};
  for_lanes(warp.exec, [&](int lane) {
    for_lanes(warp.exec, [&](int other) {
      if (value(other) == value(lane)) same[static_cast<std::size_t>(lane)] |= 1U << other;
    });
  });
  const bool all = same[static_cast<std::size_t>(std::countr_zero(warp.exec))] == warp.exec;
  for_lanes(warp.exec, [&](int lane) {
    const std::uint32_t found = same[static_cast<std::size_t>(lane)];
    warp.reg<std::uint32_t>(in.dst)[lane] = (in.aux & 1U) != 0 ? (all ? warp.exec : 0U) : found;
  });
  if (in.dst2 != kNoRegister) write_predicate(warp, in.dst2, all ? kAllLanes : 0);
}

void exec_redux(Warp& warp, const Instr& in) {
  const std::uint32_t mask = members(warp, in.src[1]);
  if (mask == 0) return;
  spread_taint(warp, in.src[0], in.dst, 4);
  const auto* value = warp.reg<const std::uint32_t>(in.src[0]);
  std::uint32_t result = value[std::countr_zero(warp.exec)];
  for_lanes(warp.exec & (warp.exec - 1), [&](int lane) {
    const std::uint32_t v = value[lane];
    const auto s = static_cast<std::int32_t>(v);
    const auto r = static_cast<std::int32_t>(result);
    switch (in.aux) {
      case 0:
        result += v;
        break;
      case 1:
        result = std::min(result, v);
        break;
      case 2:
        result = std::max(result, v);
        break;
      case 3:
        result = static_cast<std::uint32_t>(std::min(r, s));
        break;
      case 4:
        result = static_cast<std::uint32_t>(std::max(r, s));
        break;
      case 5:
        result &= v;
        break;
      case 6:
        result |= v;
        break;
      default:
        result ^= v;
        break;
    }
  });
  write_words(warp, in.dst, result);
}

void exec_elect(Warp& warp, const Instr& in) {
  const std::uint32_t mask = members(warp, in.src[0]);
  if (mask == 0) return;
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(warp.exec));
  if (in.dst != kNoRegister) write_words(warp, in.dst, leader);
  if (in.dst2 != kNoRegister) write_predicate(warp, in.dst2, 1U << leader);
}

}  // namespace evo::ptx
