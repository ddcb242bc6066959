#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/device/virtual/checks/vector_clock.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/bulk_copies.hpp"

namespace evo::ptx {

class Cta;

/// Most warp instructions between two waits for an mbarrier in a loop that only polls it.
inline constexpr std::uint64_t kPollingLoop = 64;

/// Lanes of a warp that are not in its running group, because they are at another instruction or
/// wait for other lanes.
struct LaneGroup {
  std::uint32_t pc;
  std::uint32_t mask;
  /// true: waits for other lanes to reach its instruction, such as a .sync instruction
  bool parked;
};

/// Copies issued by one cp.async instruction that have not arrived yet.
struct AsyncCopy {
  std::uint32_t mask = 0;
  std::uint32_t group = 0;  ///< number of groups that its threads had committed before
  std::uint32_t pc = 0;
  std::uint8_t bytes = 0;
  std::array<std::uint32_t, kWarpSize> destination{};
  std::array<std::array<std::byte, 16>, kWarpSize> data{};
  std::array<std::uint16_t, kWarpSize> taint{};  ///< uninitialised bytes of the source
};

/// A wgmma.mma_async whose completion the warp has not waited for.
struct PendingProduct {
  std::uint32_t pc = 0;
  std::uint32_t group = 0;            ///< number of groups the warp had committed before
  std::uint64_t number = 0;           ///< index among the warp's products, from 0
  std::vector<std::uint32_t> chunks;  ///< 16-byte chunks of shared memory that it reads
};

/// The origin of the first uninitialised data that a warp got from memory or another lane.
struct UnknownData {
  int instruction = -1;       ///< instruction that read the data; -1: not recorded
  int lane = 0;               ///< if is_shuffled: lane whose register the shuffle read
  std::uint64_t address = 0;  ///< address in global memory; otherwise 0
  bool is_shuffled = false;   ///< from a lane that does not execute the shuffle
};

enum class WarpState : std::uint8_t { kReady, kBlocked, kDone };

/// A warp of 32 threads: its registers as a structure of arrays, and the positions of its lanes in
/// the program.
struct Warp {
  std::byte* regs = nullptr;
  /// For each slot of the register file, one byte per lane: bit b is set if byte b of the register
  /// is uninitialised.
  std::uint8_t* taint = nullptr;
  bool tainted = false;  ///< at least one register may be uninitialised
  /// some uninitialised data came from memory or another lane, see taint.hpp
  bool has_foreign = false;
  UnknownData unknown;       ///< origin of the first such data
  std::uint32_t exec = 0;    ///< lanes of the instruction that runs
  std::uint32_t active = 0;  ///< lanes of the running group
  std::uint32_t alive = 0;   ///< lanes that have not exited
  std::uint32_t pc = 0;
  std::uint32_t next_pc = 0;
  std::uint32_t carry = 0;  ///< condition code CC.CF, one bit per lane
  std::vector<LaneGroup> waiting;
  bool park = false;   ///< set by a handler: the lanes of `exec` wait here for others
  bool yield = false;  ///< set by a handler: let other warps run
  int parks_in_a_row = 0;
  int fairness_hold = 0;
  int backward_branches = 0;
  std::uint64_t vain_waits = 0;  ///< number of successive failed waits for an mbarrier
  std::uint64_t waited_at = 0;   ///< value of `executed` at the last of these waits
  std::uint32_t awaited = 0;     ///< address of the mbarrier for which the last of them waited
  WarpState state = WarpState::kReady;
  int index = 0;                      ///< index in the CTA
  int barrier = -1;                   ///< the named barrier at which the warp is blocked
  const Instr* blocked_at = nullptr;  ///< where the warp is blocked, or last waited in vain
  Cta* cta = nullptr;
  const Instr* code = nullptr;
  std::uint64_t executed = 0;
  std::uint64_t* counts = nullptr;  ///< executions of each instruction
  std::uint64_t* taken = nullptr;   ///< taken branches at each instruction; null: not counted
  std::vector<AsyncCopy> copies;
  /// for each clock of the mbarriers' copies: the time of the warp's last cp.async in it
  std::array<std::uint32_t, kCopyClocks> tracked_copies{};
  std::array<std::uint32_t, kWarpSize> committed{};    ///< groups committed by each thread
  std::vector<BulkStore> stores;                       ///< in the order of issue
  std::array<std::uint32_t, kWarpSize> bulk_groups{};  ///< bulk groups committed by each thread
  std::vector<PendingProduct> products;                ///< in the order of issue
  std::uint32_t product_groups = 0;                    ///< wgmma groups committed by the warp
  std::uint32_t registers = 0;                         ///< registers per thread; 0: unknown

  template <typename T>
  [[nodiscard, gnu::always_inline]] T* reg(std::uint32_t offset) const {
    return reinterpret_cast<T*>(regs + offset);
  }
  [[nodiscard, gnu::always_inline]] std::uint32_t& predicate(std::uint32_t offset) const {
    return *reinterpret_cast<std::uint32_t*>(regs + offset);
  }
  /// The taint of the register at `offset`, one byte per lane.
  [[nodiscard, gnu::always_inline]] std::uint8_t* taint_of(std::uint32_t offset) const {
    return taint + offset / 4;
  }
};

}  // namespace evo::ptx
