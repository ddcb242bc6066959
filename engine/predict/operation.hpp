#pragma once

#include <cstdint>

#include "engine/cubin/machine_code.hpp"

namespace evo {

/// The unit that executes a machine instruction, in the time model.
enum class Unit : std::uint8_t {
  kNone,      ///< uses only the issue slot
  kAlu,       ///< integer, logic and comparison instructions
  kFma,       ///< f32 multiply-add
  kFmaHeavy,  ///< integer multiply-add, which uses half of the f32 lanes
  kHalf,      ///< packed f16
  kFp64,
  kPack,       ///< conversions that pack or unpack numbers (F2FP)
  kTransform,  ///< MUFU and other conversions
  kTensor,     ///< mma.sync
  kGmma,       ///< wgmma
  kUniform,    ///< the warp-wide scalar unit
  kShared,     ///< loads and stores of shared memory, shuffles
  kShuffle,
  kGlobalLoad,
  kGlobalStore,
  kAtomic,
  kAsyncCopy,  ///< global to shared memory (LDGSTS)
  kLocal,
  kConstant,  ///< loads of constant memory
  kSpecial,   ///< special registers, votes across units
  kBranch,
  kCall,
  kReturn,
  kExit,
  kBarrier,      ///< BAR
  kMbarrier,     ///< SYNCS, ARRIVES; the SyncEvent tells whether it arrives or waits
  kBulkCopy,     ///< UBLKCP, UTMALDG, UTMASTG
  kAsyncCommit,  ///< LDGDEPBAR, UTMACMDFLUSH
  kAsyncWait,    ///< DEPBAR
  kGmmaWait,     ///< WARPGROUP.DEPBAR
  kFence,        ///< MEMBAR for the card or the system
  kCtaFence,     ///< MEMBAR of CTA scope, which does not wait for L2
  kSleep,
  kCount,
};

/// Whether results of the unit come from outside of the SM's shared memory.
[[nodiscard]] constexpr bool is_global(Unit unit) {
  return unit == Unit::kGlobalLoad || unit == Unit::kGlobalStore || unit == Unit::kAtomic ||
         unit == Unit::kAsyncCopy || unit == Unit::kBulkCopy || unit == Unit::kLocal;
}

/// The unit of an instruction; kNone for an unknown instruction.
[[nodiscard]] Unit unit_of(const MachineInstruction& instruction);

/// Whether a wgmma ends a group, for which a warp can wait.
[[nodiscard]] bool commits_gmma(const MachineInstruction& instruction);

/// Whether a conversion packs two numbers into bytes (e4m3, e5m2).
[[nodiscard]] bool packs_bytes(const MachineInstruction& instruction);

/// Whether the instruction unpacks two numbers from bytes (e4m3, e5m2).
[[nodiscard]] bool unpacks_bytes(const MachineInstruction& instruction);

/// Whether the instruction converts a half to f32 (HADD2.F32).
[[nodiscard]] bool widens_half(const MachineInstruction& instruction);

/// Whether a store to global memory writes to the same 16 bytes per lane as the previous store. L1
/// then merges both on the way to L2.
[[nodiscard]] bool merges_with(const MachineInstruction& store, const MachineInstruction& before);

/// Twice the number of multiply-adds of a warp's matrix instruction (mma.sync, or the warp's 16
/// rows of a wgmma), computed from its shape. Byte types count half, because they run at twice the
/// rate of f16. 0 for any other instruction.
[[nodiscard]] double tensor_flops(const MachineInstruction& instruction);

/// Bytes of shared memory that a wgmma reads for one of its four warps.
[[nodiscard]] double gmma_bytes(const MachineInstruction& instruction);

}  // namespace evo
