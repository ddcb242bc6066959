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
  kShared,     ///< loads, stores and atomics of shared memory
  kShuffle,    ///< SHFL, MATCH, REDUX
  kGlobalLoad,
  kGlobalStore,
  kAtomic,
  kAsyncCopy,  ///< global to shared memory (LDGSTS)
  kLocal,
  kConstant,  ///< loads of constant memory
  kSpecial,   ///< reads of special registers (S2R, S2UR), FENCE.VIEW
  kBranch,
  kCall,
  kReturn,
  kExit,
  kBarrier,      ///< BAR
  kMbarrier,     ///< SYNCS, ARRIVES; the SyncEvent says whether the warp arrives or waits
  kBulkCopy,     ///< UBLKCP, UTMALDG, UTMASTG
  kAsyncCommit,  ///< LDGDEPBAR, UTMACMDFLUSH
  kAsyncWait,    ///< DEPBAR
  kGmmaWait,     ///< WARPGROUP.DEPBAR
  kFence,        ///< MEMBAR of GPU or system scope
  kCtaFence,     ///< MEMBAR of CTA scope, which does not wait for L2
  kSleep,
  kCount,
};

/// Whether the unit's instructions access global or local memory; true for copies between global
/// and shared memory.
[[nodiscard]] constexpr bool is_global(Unit unit) {
  return unit == Unit::kGlobalLoad || unit == Unit::kGlobalStore || unit == Unit::kAtomic ||
         unit == Unit::kAsyncCopy || unit == Unit::kBulkCopy || unit == Unit::kLocal;
}

/// The unit that executes an instruction; kNone for an unknown instruction.
[[nodiscard]] Unit unit_of(const MachineInstruction& instruction);

/// Whether a wgmma ends a group of wgmma instructions, for which a warp can wait.
[[nodiscard]] bool commits_gmma(const MachineInstruction& instruction);

/// Whether the instruction converts two numbers to bytes (e4m3 or e5m2) and packs them.
[[nodiscard]] bool packs_bytes(const MachineInstruction& instruction);

/// Whether the instruction unpacks two bytes (e4m3 or e5m2) and converts them.
[[nodiscard]] bool unpacks_bytes(const MachineInstruction& instruction);

/// Whether the instruction converts an f16 to f32 (HADD2.F32).
[[nodiscard]] bool widens_half(const MachineInstruction& instruction);

/// Whether a store to global memory writes to the same 16 bytes per lane as the previous store, so
/// that L1 merges both stores into one on the way to L2.
[[nodiscard]] bool merges_with(const MachineInstruction& store, const MachineInstruction& before);

/// Twice the number of multiply-adds of a warp's matrix instruction (mma.sync, or the warp's 16
/// rows of a wgmma), computed from its shape. For 8-bit types, the number of multiply-adds itself,
/// because the matrix unit runs them at twice the rate of f16. 0 for any other instruction.
[[nodiscard]] double tensor_flops(const MachineInstruction& instruction);

/// Like tensor_flops(), but twice the number of multiply-adds for 8-bit types, too.
[[nodiscard]] double matrix_flops(const MachineInstruction& instruction);

/// The number of bytes that a wgmma reads from shared memory for one of the four warps of its
/// warpgroup.
[[nodiscard]] double gmma_bytes(const MachineInstruction& instruction);

}  // namespace evo
