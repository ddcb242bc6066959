#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

class Cta;

/// Lanes that left the running group of a warp: at another instruction, or waiting there for
/// others.
struct LaneGroup {
  std::uint32_t pc;
  std::uint32_t mask;
  bool parked;  ///< at a .sync instruction that needs more lanes
};

/// Copies issued by one cp.async instruction that have not landed yet.
struct AsyncCopy {
  std::uint32_t mask = 0;
  std::uint32_t group = 0;  ///< number of groups its threads had committed before
  std::uint32_t pc = 0;
  std::uint8_t bytes = 0;
  std::array<std::uint32_t, kWarpSize> destination{};
  std::array<std::array<std::byte, 16>, kWarpSize> data{};
  std::array<std::uint16_t, kWarpSize> taint{};  ///< bytes of the source nobody wrote
};

/// A wgmma.mma_async that has not been waited for.
struct PendingProduct {
  std::uint32_t pc = 0;
  std::uint32_t group = 0;            ///< number of groups the warp had committed before
  std::uint64_t number = 0;           ///< among the warp's, from 0
  std::vector<std::uint32_t> chunks;  ///< of 16 bytes that it reads
};

/// Where data that nobody wrote came from.
struct UnknownData {
  int instruction = -1;       ///< that read them; -1: nobody noted it
  int lane = 0;               ///< that was read, by a shuffle
  std::uint64_t address = 0;  ///< in global memory; else 0
  bool is_shuffled = false;   ///< from a lane that does not execute the shuffle
};

enum class WarpState : std::uint8_t { kReady, kBlocked, kDone };

/// 32 threads: registers as a structure of arrays, and where each thread is.
struct Warp {
  std::byte* regs = nullptr;
  /// One byte a lane for every slot: bit b says that byte b of the register was never written.
  std::uint8_t* taint = nullptr;
  bool tainted = false;      ///< whether any register may be
  bool has_foreign = false;  ///< whether some came from memory or another lane, see taint.hpp
  UnknownData unknown;       ///< the first of them
  std::uint32_t exec = 0;    ///< lanes of the instruction that runs
  std::uint32_t active = 0;  ///< lanes of the running group
  std::uint32_t alive = 0;   ///< lanes that have not exited
  std::uint32_t pc = 0;
  std::uint32_t next_pc = 0;
  std::uint32_t carry = 0;  ///< condition code CC.CF, a bit a lane
  std::vector<LaneGroup> waiting;
  bool park = false;   ///< set by a handler: the lanes of `exec` wait here for others
  bool yield = false;  ///< set by a handler: let other warps run
  int parks_in_a_row = 0;
  int fairness_hold = 0;
  int backward_branches = 0;
  WarpState state = WarpState::kReady;
  int index = 0;     ///< in the CTA
  int barrier = -1;  ///< the one it is blocked at
  const Instr* blocked_at = nullptr;
  Cta* cta = nullptr;
  const Instr* code = nullptr;
  std::uint64_t executed = 0;
  std::uint64_t* counts = nullptr;  ///< executions of each instruction
  std::uint64_t* taken = nullptr;   ///< how often it branched there; null: not counted
  std::vector<AsyncCopy> copies;
  std::array<std::uint32_t, kWarpSize> committed{};  ///< groups committed by each thread
  std::vector<PendingProduct> products;              ///< in the order of issue
  std::uint32_t product_groups = 0;                  ///< committed
  std::uint32_t registers = 0;                       ///< of a thread; 0: not known

  template <typename T>
  [[nodiscard, gnu::always_inline]] T* reg(std::uint32_t offset) const {
    return reinterpret_cast<T*>(regs + offset);
  }
  [[nodiscard, gnu::always_inline]] std::uint32_t& predicate(std::uint32_t offset) const {
    return *reinterpret_cast<std::uint32_t*>(regs + offset);
  }
  /// Taint bytes of the register at `offset`, one a lane.
  [[nodiscard, gnu::always_inline]] std::uint8_t* taint_of(std::uint32_t offset) const {
    return taint + offset / 4;
  }
};

}  // namespace evo::ptx
