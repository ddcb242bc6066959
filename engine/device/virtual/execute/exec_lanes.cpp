#include "engine/device/virtual/execute/exec_lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/execute/member_groups.hpp"

// Executes shfl, vote, match, redux and elect, which exchange values between the lanes of a warp.

namespace evo::ptx {
namespace {

/// Propagates taint (the mark of uninitialised data) if a result depends on all lanes: one tainted
/// lane taints the result of every lane.
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

/// For each lane, the lane from which it reads; also a mask of the lanes whose source is in range,
/// as the PTX ISA defines for shfl.
struct Shuffle {
  std::array<int, kWarpSize> source;
  std::uint32_t in_range = 0;
};

Shuffle plan_shuffle(const Warp& warp, const ShuffleOperands& op) {
  Shuffle plan{};
  const auto* b = warp.reg<const std::uint32_t>(op.lane);
  const auto* c = warp.reg<const std::uint32_t>(op.clamp);
  for_lanes(warp.exec, [&](int lane) {
    const int bval = static_cast<int>(b[lane] & 31U);
    const int cval = static_cast<int>(c[lane] & 31U);
    const int segment = static_cast<int>((c[lane] >> 8) & 31U);
    const int max_lane = (lane & segment) | (cval & ~segment & 31);
    const int min_lane = lane & segment;
    int j = 0;
    bool ok = false;
    switch (op.mode) {
      case ShuffleMode::kUp:
        j = lane - bval;
        ok = j >= max_lane;
        break;
      case ShuffleMode::kDown:
        j = lane + bval;
        ok = j <= max_lane;
        break;
      case ShuffleMode::kButterfly:
        j = lane ^ bval;
        ok = j <= max_lane;
        break;
      case ShuffleMode::kIndex:
        j = min_lane | (bval & ~segment & 31);
        ok = j <= max_lane;
        break;
    }
    plan.source[static_cast<std::size_t>(lane)] = ok ? j : lane;
    if (ok) plan.in_range |= 1U << lane;
  });
  return plan;
}

void taint_shuffled(Warp& warp, const ShuffleOperands& op, const Shuffle& plan) {
  std::array<std::uint32_t, kWarpSize> old{};
  for (int lane = 0; lane < kWarpSize; ++lane)
    old[static_cast<std::size_t>(lane)] = get_taint(warp, op.value, 4, lane);
  for_lanes(warp.exec, [&](int lane) {
    const auto from = static_cast<std::size_t>(plan.source[static_cast<std::size_t>(lane)]);
    const bool takes_part = ((warp.exec >> from) & 1U) != 0;
    if (op.dst != kNoRegister) set_taint(warp, op.dst, 4, lane, takes_part ? old[from] : 0xfU);
    if (op.in_range != kNoRegister) set_taint(warp, op.in_range, 4, lane, 0);
  });
}

void shuffle(Warp& warp, const ShuffleOperands& op) {
  const Shuffle plan = plan_shuffle(warp, op);
  std::array<std::uint32_t, kWarpSize> value;
  std::memcpy(value.data(), warp.regs + op.value, sizeof(value));
  for_lanes(warp.exec, [&](int lane) {
    // If a lane reads from an inactive lane, the result is undefined, which is reported only if the
    // kernel uses the result.
    const int from = plan.source[static_cast<std::size_t>(lane)];
    if (((warp.exec >> from) & 1U) != 0 || !warp.cta->launch().check) return;
    take_foreign_taint(warp, {static_cast<int>(warp.pc), from, 0, true});
  });
  if (warp.tainted) taint_shuffled(warp, op, plan);
  if (op.dst != kNoRegister) {
    auto* dst = warp.reg<std::uint32_t>(op.dst);
    for_lanes(warp.exec, [&](int lane) {
      dst[lane] = value[static_cast<std::size_t>(plan.source[static_cast<std::size_t>(lane)])];
    });
  }
  if (op.in_range != kNoRegister) write_predicate(warp, op.in_range, plan.in_range);
}

void vote(Warp& warp, const VoteOperands& op) {
  spread_taint(warp, op.predicate, op.dst, 4);
  std::uint32_t votes = warp.predicate(op.predicate);
  if (op.negated) votes = ~votes;
  votes &= warp.exec;
  switch (op.mode) {
    case VoteMode::kAll:
      write_predicate(warp, op.dst, votes == warp.exec ? kAllLanes : 0);
      break;
    case VoteMode::kAny:
      write_predicate(warp, op.dst, votes != 0 ? kAllLanes : 0);
      break;
    case VoteMode::kUniform:
      write_predicate(warp, op.dst, votes == warp.exec || votes == 0 ? kAllLanes : 0);
      break;
    case VoteMode::kBallot:
      write_words(warp, op.dst, votes);
      break;
  }
}

void match(Warp& warp, const MatchOperands& op) {
  spread_taint(warp, op.value, op.dst, op.is_wide ? 8 : 4);
  const auto value = [&](int lane) {
    return op.is_wide ? warp.reg<const std::uint64_t>(op.value)[lane]
                      : static_cast<std::uint64_t>(warp.reg<const std::uint32_t>(op.value)[lane]);
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
    warp.reg<std::uint32_t>(op.dst)[lane] = op.all ? (all ? warp.exec : 0U) : found;
  });
  if (op.all_equal != kNoRegister) write_predicate(warp, op.all_equal, all ? kAllLanes : 0);
}

void redux(Warp& warp, const ReduxOperands& op) {
  spread_taint(warp, op.value, op.dst, 4);
  const auto* value = warp.reg<const std::uint32_t>(op.value);
  std::uint32_t result = value[std::countr_zero(warp.exec)];
  for_lanes(warp.exec & (warp.exec - 1), [&](int lane) {
    const std::uint32_t v = value[lane];
    const auto s = static_cast<std::int32_t>(v);
    const auto r = static_cast<std::int32_t>(result);
    switch (op.op) {
      case ReduxOp::kAdd:
        result += v;
        break;
      case ReduxOp::kMinU:
        result = std::min(result, v);
        break;
      case ReduxOp::kMaxU:
        result = std::max(result, v);
        break;
      case ReduxOp::kMinS:
        result = static_cast<std::uint32_t>(std::min(r, s));
        break;
      case ReduxOp::kMaxS:
        result = static_cast<std::uint32_t>(std::max(r, s));
        break;
      case ReduxOp::kAnd:
        result &= v;
        break;
      case ReduxOp::kOr:
        result |= v;
        break;
      case ReduxOp::kXor:
        result ^= v;
        break;
    }
  });
  write_words(warp, op.dst, result);
}

void elect(Warp& warp, const ElectOperands& op) {
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(warp.exec));
  if (op.leader != kNoRegister) write_words(warp, op.leader, leader);
  if (op.is_leader != kNoRegister) write_predicate(warp, op.is_leader, 1U << leader);
}

/// Executes an instruction once for each group of lanes with the same member mask.
template <typename Op>
void exchange(Warp& warp, const Instr& in, void (*meet)(Warp&, const Op&)) {
  const auto& op = in.as<Op>();
  for_member_groups(warp, op.members, [&] { meet(warp, op); });
}

}  // namespace

void exec_shuffle(Warp& warp, const Instr& in) { exchange(warp, in, shuffle); }

void exec_vote(Warp& warp, const Instr& in) { exchange(warp, in, vote); }

void exec_match(Warp& warp, const Instr& in) { exchange(warp, in, match); }

void exec_redux(Warp& warp, const Instr& in) { exchange(warp, in, redux); }

void exec_elect(Warp& warp, const Instr& in) { exchange(warp, in, elect); }

}  // namespace evo::ptx
