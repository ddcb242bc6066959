#pragma once

#include <cstdint>

#include "engine/cubin/machine_code.hpp"

namespace evo {

/// What executes a machine instruction, as far as time goes.
enum class Unit : std::uint8_t {
  kNone,      ///< only the issue slot
  kAlu,       ///< integer, logic, comparisons
  kFma,       ///< f32 multiply-add
  kFmaHeavy,  ///< integer multiply-add: one half of the f32 lanes
  kHalf,      ///< packed f16
  kFp64,
  kPack,       ///< conversions that pack or unpack (F2FP)
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
  kMbarrier,     ///< SYNCS, ARRIVES: which of both its events say
  kAsyncCommit,  ///< LDGDEPBAR
  kAsyncWait,    ///< DEPBAR
  kGmmaWait,     ///< WARPGROUP.DEPBAR
  kFence,        ///< MEMBAR for the card or the system
  kCtaFence,     ///< MEMBAR for the CTA alone: nothing has to reach L2
  kSleep,
  kCount,
};

/// Whether its results come from beyond the SM's shared memory.
[[nodiscard]] constexpr bool is_global(Unit unit) {
  return unit == Unit::kGlobalLoad || unit == Unit::kGlobalStore || unit == Unit::kAtomic ||
         unit == Unit::kAsyncCopy || unit == Unit::kLocal;
}

/// The unit of an instruction; kNone for one that is not known.
[[nodiscard]] Unit unit_of(const MachineInstruction& instruction);

/// Whether a wgmma is the last of a group that a warp can wait for.
[[nodiscard]] bool commits_gmma(const MachineInstruction& instruction);

/// Whether a conversion packs two numbers into bytes (e4m3, e5m2).
[[nodiscard]] bool packs_bytes(const MachineInstruction& instruction);

/// Whether it unpacks two numbers from bytes.
[[nodiscard]] bool unpacks_bytes(const MachineInstruction& instruction);

/// Whether it converts a half to f32 (HADD2.F32).
[[nodiscard]] bool widens_half(const MachineInstruction& instruction);

/// Whether a store to global memory goes to the same 16 bytes of a lane as the one before it: L1
/// then sends both to L2 as one.
[[nodiscard]] bool merges_with(const MachineInstruction& store, const MachineInstruction& before);

/// Multiply-adds × 2 of a matrix instruction of a warp (mma.sync, wgmma: the warp's 16 rows), from
/// its shape; those of bytes count half, since they go at twice the rate of f16. 0 for any other.
[[nodiscard]] double tensor_flops(const MachineInstruction& instruction);

/// Bytes of shared memory that a wgmma reads for one of its four warps.
[[nodiscard]] double gmma_bytes(const MachineInstruction& instruction);

}  // namespace evo
