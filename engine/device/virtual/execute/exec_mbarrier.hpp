#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

class Cta;
struct MBarrier;

/// Returns the mbarrier object at `address`. If there is no mbarrier object at `address`, reports a
/// hazard and returns null.
[[nodiscard]] MBarrier* find_mbarrier(Warp& warp, std::uint64_t address, std::size_t lane);
/// As above, for an mbarrier in the shared memory of `owner`, a CTA of the cluster.
[[nodiscard]] MBarrier* find_mbarrier(Warp& warp, Cta& owner, std::uint64_t address,
                                      std::size_t lane);
/// Completes the phase of the mbarrier at `address` of `owner` if no arrivals and no bytes are
/// missing.
void complete_phase_if_done(Cta& owner, MBarrier& barrier, std::uint64_t address);
/// Checks the mbarriers that the lanes use. If an mbarrier is out of bounds or not aligned, ends
/// the launch and returns false. If its initialisation is not ordered before this instruction,
/// reports a race and returns true.
/// `in_cluster`: the mbarriers may be in other CTAs of the cluster.
[[nodiscard]] bool check_mbarriers(Warp& warp, const std::array<std::uint64_t, kWarpSize>& address,
                                   bool in_cluster = false);

/// The number by which barrier events (Cta::note_sync()) name the mbarrier at `address`. Numbers
/// below 16 name the named barriers.
[[nodiscard]] inline std::uint32_t mbarrier_key(std::uint64_t address) {
  constexpr std::uint32_t kNamedBarriers = 16;
  return static_cast<std::uint32_t>(address) + kNamedBarriers;
}

struct MbarrierInitOperands {
  Address object;
  std::uint32_t count = kNoRegister;
  auto register_fields() { return std::tie(object.base, count); }
};
void exec_mbarrier_init(Warp& warp, const Instr& in);

struct MbarrierInvalOperands {
  Address object;
  auto register_fields() { return std::tie(object.base); }
};
void exec_mbarrier_inval(Warp& warp, const Instr& in);

/// The operand of mbarrier.arrive, expect_tx or complete_tx: none, a count, or a number of bytes.
enum class ArriveOperand : std::uint8_t { kNone, kCount, kExpectedBytes, kCompletedBytes };
/// The operands of mbarrier.arrive, arrive.expect_tx, expect_tx and complete_tx.
struct MbarrierArriveOperands {
  Address object;
  std::uint32_t dst = kNoRegister;  ///< receives the state (kPendingShift)
  std::uint32_t operand = kNoRegister;
  ArriveOperand kind = ArriveOperand::kNone;
  bool arrives = true;
  bool drops = false;       ///< arrive_drop: also lowers MBarrier::count, for later phases
  bool in_cluster = false;  ///< the mbarrier may be in another CTA of the cluster
  auto register_fields() { return std::tie(object.base, dst, operand); }
};
void exec_mbarrier_arrive(Warp& warp, const Instr& in);

/// The operands of mbarrier.test_wait and try_wait.
struct MbarrierWaitOperands {
  Address object;
  std::uint32_t dst = kNoRegister;
  std::uint32_t phase = kNoRegister;
  bool is_parity = false;  ///< the phase operand is a parity; false: a state
  bool is_try = false;     ///< true: try_wait; false: test_wait
  auto register_fields() { return std::tie(object.base, dst, phase); }
};
void exec_mbarrier_wait(Warp& warp, const Instr& in);

/// The operands of cp.async.mbarrier.arrive.
struct CopyArriveOperands {
  Address object;
  bool increments = true;  ///< without .noinc
  auto register_fields() { return std::tie(object.base); }
};
void exec_cp_async_mbarrier_arrive(Warp& warp, const Instr& in);

}  // namespace evo::ptx
