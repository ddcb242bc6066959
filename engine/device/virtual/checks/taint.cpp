#include "engine/device/virtual/checks/taint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {
namespace {

/// Describes Warp::unknown for a report; empty if no origin was recorded.
std::string origin_of(const Warp& warp) {
  const UnknownData& unknown = warp.unknown;
  if (unknown.instruction < 0) return {};
  const std::string place = describe_instruction(warp.cta->program(), unknown.instruction);
  if (unknown.is_shuffled) {
    // According to the PTX ISA (shfl.sync), the result of reading from a thread that does not
    // execute the instruction is undefined.
    return fmt::format(
        "; the shuffle at {} read lane {}, which does not execute the shuffle, so the result is "
        "undefined; every lane that is read must execute the shuffle, with a mask that contains it",
        place, unknown.lane);
  }
  const GlobalBuffer* buffer =
      unknown.address == 0 ? nullptr : warp.cta->launch().memory->find(unknown.address);
  const std::string where =
      buffer == nullptr ? std::string()
                        : fmt::format(", byte {} of the {} of '{}'", unknown.address - buffer->base,
                                      buffer->bytes, buffer->name);
  return fmt::format("; uninitialised data were first read at {}{}", place, where);
}

std::uint32_t full_mask(std::uint32_t bytes) { return bytes >= 16 ? 0xffffU : (1U << bytes) - 1; }

/// The value of a register in one lane.
std::uint64_t value_of(const Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane) {
  std::uint64_t value = 0;
  const std::size_t step = bytes;
  std::memcpy(&value, warp.regs + reg + step * static_cast<std::size_t>(lane),
              bytes < 8 ? bytes : 8);
  return value;
}

std::uint32_t bytewise(const Warp& warp, const AluOperands& in, const InstrInfo& info, int lane) {
  const std::uint32_t bytes = info.dst_bytes;
  const std::uint32_t a = get_taint(warp, in.src[0], bytes, lane);
  const std::uint32_t b = get_taint(warp, in.src[1], bytes, lane);
  if (info.taint == TaintRule::kXor) return a | b;
  const std::uint64_t va = value_of(warp, in.src[0], bytes, lane);
  const std::uint64_t vb = value_of(warp, in.src[1], bytes, lane);
  const std::uint64_t decides = info.taint == TaintRule::kAnd ? 0x00U : 0xffU;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < bytes && i < 8; ++i) {
    const bool ta = ((a >> i) & 1U) != 0;
    const bool tb = ((b >> i) & 1U) != 0;
    const bool cleared = (!ta && ((va >> (8 * i)) & 0xffU) == decides) ||
                         (!tb && ((vb >> (8 * i)) & 0xffU) == decides);
    if ((ta || tb) && !cleared) result |= 1U << i;
  }
  return result;
}

std::uint32_t carried(const Warp& warp, const InstrInfo& info, int lane) {
  std::uint32_t any = 0;
  for (const std::uint32_t reg : info.sources) any |= get_taint(warp, reg, info.dst_bytes, lane);
  if (any == 0) return 0;
  return full_mask(info.dst_bytes) & ~((any & (0 - any)) - 1);
}

std::uint32_t permuted(const Warp& warp, const AluOperands& in, int lane) {
  if (get_taint(warp, in.src[2], 4, lane) != 0) return 0xfU;
  const std::uint32_t bytes =
      get_taint(warp, in.src[0], 4, lane) | get_taint(warp, in.src[1], 4, lane) << 4;
  const auto selector = static_cast<std::uint32_t>(value_of(warp, in.src[2], 4, lane));
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (((bytes >> ((selector >> (4 * i)) & 7U)) & 1U) != 0) result |= 1U << i;
  }
  return result;
}

std::uint32_t shifted(const Warp& warp, const AluOperands& in, const InstrInfo& info, int lane) {
  const std::uint32_t bytes = info.dst_bytes;
  const std::uint32_t a = get_taint(warp, in.src[0], bytes, lane);
  if (get_taint(warp, in.src[1], 4, lane) != 0) return full_mask(bytes);
  if (a == 0) return 0;
  const auto amount = static_cast<std::uint32_t>(value_of(warp, in.src[1], 4, lane));
  if (amount % 8 != 0) return full_mask(bytes);
  if (amount >= bytes * 8) return 0;
  return (info.opcode == Opcode::kShl ? a << (amount / 8) : a >> (amount / 8)) & full_mask(bytes);
}

std::uint32_t selected(const Warp& warp, const AluOperands& in, const InstrInfo& info, int lane) {
  if (get_taint(warp, in.src[2], 4, lane) != 0) return full_mask(info.dst_bytes);
  const bool first = (((warp.predicate(in.src[2]) >> lane) & 1U) != 0) != in.negated;
  return get_taint(warp, first ? in.src[0] : in.src[1], info.dst_bytes, lane);
}

std::uint32_t combined_predicate(const Warp& warp, const AluOperands& in, const InstrInfo& info,
                                 int lane) {
  const bool ta = get_taint(warp, in.src[0], 4, lane) != 0;
  const bool tb = get_taint(warp, in.src[1], 4, lane) != 0;
  const bool decides = info.taint == TaintRule::kPredOr;
  const bool va = ((warp.predicate(in.src[0]) >> lane) & 1U) != 0;
  const bool vb = ((warp.predicate(in.src[1]) >> lane) & 1U) != 0;
  const bool cleared = (!ta && va == decides) || (!tb && vb == decides);
  return (ta || tb) && !cleared ? 0xfU : 0U;
}

std::uint32_t packed(const Warp& warp, const InstrInfo& info, int lane) {
  std::uint32_t result = 0;
  std::uint32_t at = 0;
  for (const std::uint32_t reg : info.sources) {
    result |= (get_taint(warp, reg, info.src_bytes, lane) & full_mask(info.src_bytes)) << at;
    at += info.src_bytes;
  }
  return result;
}

std::uint32_t lane_taint(const Warp& warp, const Instr& in, const InstrInfo& info, int lane) {
  switch (info.taint) {
    case TaintRule::kMove:
      return get_taint(warp, in.as<AluOperands>().src[0], info.dst_bytes, lane);
    case TaintRule::kAnd:
    case TaintRule::kOr:
    case TaintRule::kXor:
      return bytewise(warp, in.as<AluOperands>(), info, lane);
    case TaintRule::kCarry:
      return carried(warp, info, lane);
    case TaintRule::kSelect:
      return selected(warp, in.as<AluOperands>(), info, lane);
    case TaintRule::kPredAnd:
    case TaintRule::kPredOr:
      return combined_predicate(warp, in.as<AluOperands>(), info, lane);
    case TaintRule::kPack:
      return packed(warp, info, lane);
    case TaintRule::kPermute:
      return permuted(warp, in.as<AluOperands>(), lane);
    case TaintRule::kShift:
      return shifted(warp, in.as<AluOperands>(), info, lane);
    default:
      break;
  }
  for (const std::uint32_t reg : info.sources) {
    if (get_taint(warp, reg, 8, lane) != 0) return full_mask(info.dst_bytes);
  }
  return 0;
}

bool any_in_row(const std::uint8_t* taint) {
  std::array<std::uint64_t, kWarpSize / sizeof(std::uint64_t)> words;
  std::memcpy(words.data(), taint, sizeof(words));
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/// True if any lane of the register is tainted, that is, holds uninitialised data. `is_wide`: also
/// examine the next 32 taint flags, which are those of the upper half of a 16-byte register.
bool any_taint(const Warp& warp, std::uint32_t reg, bool is_wide) {
  if (any_in_row(warp.taint_of(reg))) return true;
  // For narrower registers, the next flags belong to another register, so the function may return
  // true although this register is not tainted; this only costs time.
  const bool has_second = reg / 4 + 2 * kWarpSize <= warp.cta->program().register_bytes / 4;
  return is_wide && has_second && any_in_row(warp.taint_of(reg) + kWarpSize);
}

void clear_taint(Warp& warp, std::uint32_t reg) {
  std::uint8_t* taint = warp.taint_of(reg);
  if (warp.exec == kAllLanes) {
    std::memset(taint, 0, kWarpSize);
    return;
  }
  for_lanes(warp.exec, [&](int lane) { taint[lane] = 0; });
}

/// Propagates taint for all lanes at once, by the rules kAny and kMove, with the same result as
/// lane_taint() for each lane. Does nothing and returns false if the instruction's taint rule is
/// neither kAny nor kMove, or if its destination has 16 bytes.
bool propagate_rows(Warp& warp, const Instr& in, const InstrInfo& info) {
  if (info.dst_bytes > 8 || (info.taint != TaintRule::kAny && info.taint != TaintRule::kMove))
    return false;
  std::array<std::uint8_t, kWarpSize> row{};
  if (info.taint == TaintRule::kMove) {
    std::memcpy(row.data(), warp.taint_of(in.as<AluOperands>().src[0]), kWarpSize);
  } else {
    for (const std::uint32_t reg : info.sources) {
      const std::uint8_t* taint = warp.taint_of(reg);
      for (std::size_t l = 0; l < kWarpSize; ++l)
        row[l] = static_cast<std::uint8_t>(row[l] | taint[l]);
    }
    const auto full = static_cast<std::uint8_t>(full_mask(info.dst_bytes));
    for (std::uint8_t& taint : row) taint = taint != 0 ? full : std::uint8_t{0};
  }
  for (const std::uint32_t reg : info.destinations) {
    std::uint8_t* taint = warp.taint_of(reg);
    if (warp.exec == kAllLanes) {
      std::memcpy(taint, row.data(), kWarpSize);
    } else {
      for_lanes<std::size_t>(warp.exec, [&](std::size_t lane) { taint[lane] = row[lane]; });
    }
  }
  return true;
}

void unpack_taint(Warp& warp, const UnpackOperands& op, const InstrInfo& info) {
  const std::uint32_t* parts = warp.cta->program().registers_of(op.parts);
  for_lanes(warp.exec, [&](int lane) {
    const std::uint32_t all = get_taint(warp, op.source, info.src_bytes, lane);
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < op.parts.count; ++i, at += info.dst_bytes) {
      if (parts[i] != kNoRegister)
        set_taint(warp, parts[i], info.dst_bytes, lane, (all >> at) & full_mask(info.dst_bytes));
    }
  });
}

}  // namespace

std::uint32_t get_taint(const Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane) {
  const std::uint8_t* taint = warp.taint_of(reg) + lane;
  std::uint32_t result = *taint;
  if (bytes == 16) result |= static_cast<std::uint32_t>(taint[kWarpSize]) << 8;
  return result;
}

void set_taint(Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane, std::uint32_t taint) {
  std::uint8_t* first = warp.taint_of(reg) + lane;
  *first = static_cast<std::uint8_t>(taint);
  if (bytes == 16) first[kWarpSize] = static_cast<std::uint8_t>(taint >> 8);
}

std::uint32_t tainted_lanes(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                            std::uint32_t mask) {
  std::uint32_t lanes = 0;
  for_lanes(mask, [&](int lane) {
    if ((get_taint(warp, reg, bytes, lane) & full_mask(bytes)) != 0) lanes |= 1U << lane;
  });
  return lanes;
}

void report_tainted_use(Warp& warp, std::uint32_t lanes, const char* purpose) {
  const int lane = std::countr_zero(lanes);
  warp.cta->report(HazardKind::kUninitialised, static_cast<int>(warp.pc), -1,
                   fmt::format("uninitialised data {} in {}{}", purpose,
                               warp.cta->names().thread(warp.index, lane), origin_of(warp)));
}

void check_guard_taint(Warp& warp, const Instr& in) {
  if (!warp.has_foreign) return;
  const std::uint32_t lanes = tainted_lanes(warp, in.guard, 1, warp.active);
  if (lanes != 0) report_tainted_use(warp, lanes, "decide what is executed");
}

void take_foreign_taint(Warp& warp, const UnknownData& from) {
  warp.tainted = true;
  warp.has_foreign = true;
  if (warp.unknown.instruction < 0) warp.unknown = from;
}

void drop_stale_taint(Warp& warp) {
  // Each 128 bytes (kSlotBytes) of the register file have 32 taint flags, one for each lane.
  const std::size_t bytes = warp.cta->program().register_bytes / 4;
  for (std::size_t at = 0; at < bytes; at += kWarpSize) {
    if (any_in_row(warp.taint + at)) return;
  }
  warp.tainted = false;
}

void propagate_taint(Warp& warp, const Instr& in) {
  const InstrInfo& info = warp.cta->program().info[warp.pc];
  if (info.taint == TaintRule::kOwn) return;
  const bool is_wide = info.dst_bytes == 16 || info.src_bytes == 16;
  if (std::ranges::none_of(info.sources,
                           [&](std::uint32_t reg) { return any_taint(warp, reg, is_wide); })) {
    for (const std::uint32_t reg : info.destinations) clear_taint(warp, reg);
    return;
  }
  if (info.taint == TaintRule::kUnpack) {
    unpack_taint(warp, in.as<UnpackOperands>(), info);
    return;
  }
  if (propagate_rows(warp, in, info)) return;
  std::uint32_t taints[kWarpSize];
  for_lanes(warp.exec, [&](int lane) { taints[lane] = lane_taint(warp, in, info, lane); });
  for (const std::uint32_t reg : info.destinations) {
    for_lanes(warp.exec,
              [&](int lane) { set_taint(warp, reg, info.dst_bytes, lane, taints[lane]); });
  }
}

}  // namespace evo::ptx
