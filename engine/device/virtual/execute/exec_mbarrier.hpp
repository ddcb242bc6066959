#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

struct MBarrier;

/// The mbarrier object at `address`; null, after a report, if there is none.
[[nodiscard]] MBarrier* find_mbarrier(Warp& warp, std::uint64_t address, std::size_t lane);
/// The objects that the lanes use must be in bounds and aligned, and their initialisation must be
/// ordered before. False after a report that ends the launch.
[[nodiscard]] bool check_mbarriers(Warp& warp, const std::array<std::uint64_t, kWarpSize>& address);

/// The number of the mbarrier at `address` in a profile. Smaller numbers are named barriers.
[[nodiscard]] inline std::uint32_t mbarrier_key(std::uint64_t address) {
  constexpr std::uint32_t kNamedBarriers = 16;
  return static_cast<std::uint32_t>(address) + kNamedBarriers;
}

struct MbarrierInitOperands {
  Address object;
  std::uint32_t count = kNoRegister;
  template <typename F>
  void each_register(F&& visit) {
    visit(object.base);
    visit(count);
  }
};
void exec_mbarrier_init(Warp& warp, const Instr& in);

struct MbarrierInvalOperands {
  Address object;
  template <typename F>
  void each_register(F&& visit) {
    visit(object.base);
  }
};
void exec_mbarrier_inval(Warp& warp, const Instr& in);

/// The kind of the operand of an arrival, expect_tx or complete_tx.
enum class ArriveOperand : std::uint8_t { kNone, kCount, kExpectedBytes, kCompletedBytes };
/// mbarrier.arrive, arrive.expect_tx, expect_tx and complete_tx.
struct MbarrierArriveOperands {
  Address object;
  std::uint32_t dst = kNoRegister;  ///< receives the phase; kNoRegister: not needed
  std::uint32_t operand = kNoRegister;
  ArriveOperand kind = ArriveOperand::kNone;
  bool arrives = true;
  template <typename F>
  void each_register(F&& visit) {
    visit(object.base);
    visit(dst);
    visit(operand);
  }
};
void exec_mbarrier_arrive(Warp& warp, const Instr& in);

/// mbarrier.test_wait and try_wait.
struct MbarrierWaitOperands {
  Address object;
  std::uint32_t dst = kNoRegister;
  std::uint32_t phase = kNoRegister;
  bool is_parity = false;  ///< whether the phase is a parity or a state
  bool is_try = false;     ///< lets other warps run
  template <typename F>
  void each_register(F&& visit) {
    visit(object.base);
    visit(dst);
    visit(phase);
  }
};
void exec_mbarrier_wait(Warp& warp, const Instr& in);

/// cp.async.mbarrier.arrive.
struct CopyArriveOperands {
  Address object;
  bool increments = true;  ///< without .noinc
  template <typename F>
  void each_register(F&& visit) {
    visit(object.base);
  }
};
void exec_cp_async_mbarrier_arrive(Warp& warp, const Instr& in);

}  // namespace evo::ptx
