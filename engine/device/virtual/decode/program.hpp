#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/virtual/decode/instr.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A register the warp must fill before it starts.
struct ConstantRegister {
  std::uint32_t offset;
  std::uint32_t bytes;  ///< 4: one word per lane or predicate; 2, 8, 16
  std::uint64_t bits;
  bool predicate = false;
};

/// Special registers kept as ordinary registers, filled when a CTA starts.
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNWarpId,
  kLaneMaskEq,
  kLaneMaskLe,
  kLaneMaskLt,
  kLaneMaskGe,
  kLaneMaskGt,
  kSmId,
  kNSmId,
  kGridId,
  kDynamicSharedSize,
  kTotalSharedSize,
  kReservedSharedBegin,  ///< of the shared memory that is the system's: see Program
  kReservedSharedCap,
  kReservedSharedEnd,
  kReservedShared0,
  kReservedShared1,
  kEnvReg1,  ///< upper half of the address of the grid's workspace
  kEnvReg2,  ///< lower half
  kCount,
};

/// What is to be checked before an instruction that has to do with registers of wgmma.
struct ProductCheck {
  Handler original = nullptr;         ///< does what the instruction does
  std::vector<std::uint32_t> reads;   ///< wgmma whose accumulators it reads
  std::vector<std::uint32_t> writes;  ///< wgmma whose accumulators or A fragments it overwrites
  bool unfenced = false;  ///< it is a wgmma whose registers may have been written after any fence
};

/// A call of a function that the device itself has (vprintf, __assertfail): where its parameters
/// and its result lie in local memory.
struct SystemCall {
  std::vector<std::uint32_t> parameters;
  std::uint32_t result = 0;
  bool has_result = false;
};

/// A kernel argument's place in the parameter block.
struct ParameterLayout {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// An entry ready to run. Immutable; shared by all warps.
struct Program {
  std::string entry;
  std::string target;
  std::vector<Instr> code;
  std::vector<InstrInfo> info;
  std::vector<std::uint32_t> registers;       ///< of the register lists of instructions
  std::vector<std::uint32_t> branch_targets;  ///< of indexed branches
  std::vector<ConstantRegister> constants;
  std::vector<std::pair<Special, std::uint32_t>> specials;
  std::vector<std::uint32_t> unset_registers;  ///< live at entry: read before anything is written
  std::vector<std::uint32_t> unset_bytes;      ///< their widths
  std::uint32_t register_bytes = 0;            ///< size of a warp's register file
  int live_registers = 0;                      ///< 32-bit registers of a thread live at once, about
  std::vector<ParameterLayout> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;  ///< where the dynamic part begins
  bool uses_reserved_shared = false;  ///< names what the system keeps of a CTA's shared memory
  std::vector<std::pair<std::uint32_t, std::string>> shared_names;  ///< offset → variable
  std::uint32_t local_bytes = 0;                                    ///< per thread
  int shared_granule = 4;  ///< bytes per shadow word: the narrowest access
  int global_granule = 4;  ///< the same for global memory
  /// Has atomics on global memory that return a value, or reads what it sends: a CTA may have to
  /// wait for another one, or may take work from it, so that a part of the grid is no sample.
  bool claims_work = false;
  bool reads_signals = false;  ///< has strong reads of global memory
  bool sends_signals = false;  ///< has atomics or strong stores there
  bool has_changes = false;    ///< has atomics or strong stores that other CTAs may see
  bool cooperative = false;    ///< its CTAs wait for each other: all must be on the device at once
  int max_threads = 0;
  int launch_registers = 0;  ///< per thread, from the directives of the entry; 0: not stated
  std::map<std::uint32_t, ProductCheck> product_checks;  ///< by instruction
  std::vector<SystemCall> system_calls;
  std::map<int, std::string> files;
  std::vector<SourceLocation> call_sites;  ///< of inlined functions

  /// The registers of a list.
  [[nodiscard]] const std::uint32_t* registers_of(const RegisterList& list) const {
    return registers.data() + list.first;
  }
};

}  // namespace evo::ptx
