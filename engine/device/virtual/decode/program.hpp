#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/virtual/decode/instr.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A register that the warp must initialise before it starts.
struct ConstantRegister {
  std::uint32_t offset;
  std::uint32_t bytes;  ///< 4: one word per lane, or a predicate; or 2, 8, 16
  std::uint64_t bits;
  bool predicate = false;
};

/// Special registers stored as ordinary registers, initialised when a CTA starts.
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
  kReservedSharedBegin,  ///< offset of the system's part of shared memory, see Program
  kReservedSharedCap,
  kReservedSharedEnd,
  kReservedShared0,
  kReservedShared1,
  kEnvReg1,  ///< upper half of the address of the grid's workspace
  kEnvReg2,  ///< lower half
  kCount,
};

/// A check before an instruction that touches registers of wgmma.
struct ProductCheck {
  Handler original = nullptr;        ///< the original handler
  std::vector<std::uint32_t> reads;  ///< each wgmma whose accumulators it reads
  /// each wgmma whose accumulators or A fragments it overwrites
  std::vector<std::uint32_t> writes;
  /// it is a wgmma whose registers may have been written after the last fence
  bool unfenced = false;
};

/// A call of a system function of the device (vprintf, __assertfail), with the offsets of its
/// parameters and its result in local memory.
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
  std::vector<std::uint32_t> registers;       ///< register lists of instructions
  std::vector<std::uint32_t> branch_targets;  ///< targets of indexed branches
  std::vector<ConstantRegister> constants;
  std::vector<std::pair<Special, std::uint32_t>> specials;
  /// live at entry: may be read before anything is written
  std::vector<std::uint32_t> unset_registers;
  std::vector<std::uint32_t> unset_bytes;  ///< their widths
  std::uint32_t register_bytes = 0;        ///< size of a warp's register file
  /// approximate number of 32-bit registers of a thread that are live at once
  int live_registers = 0;
  std::vector<ParameterLayout> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;  ///< offset of the dynamic part
  /// uses the part of a CTA's shared memory that the system reserves
  bool uses_reserved_shared = false;
  std::vector<std::pair<std::uint32_t, std::string>> shared_names;  ///< offset → variable
  std::uint32_t local_bytes = 0;                                    ///< per thread
  int shared_granule = 4;  ///< bytes per shadow word: the narrowest access
  int global_granule = 4;  ///< the same for global memory
  /// The kernel has atomics on global memory that return a value, or reads data that it writes. A
  /// CTA may then wait for another one or take work from it, so a part of the grid is not
  /// representative.
  bool claims_work = false;
  bool reads_signals = false;  ///< has strong reads of global memory
  bool sends_signals = false;  ///< has atomics or strong stores there
  bool has_changes = false;    ///< has atomics or strong stores visible to other CTAs
  bool cooperative = false;    ///< its CTAs wait for each other, so all must be resident at once
  /// executes griddepcontrol.wait: it may start while the kernel before it runs
  bool waits_for_grid = false;
  int max_threads = 0;
  int launch_registers = 0;  ///< per thread, from the directives of the entry; 0: not stated
  std::map<std::uint32_t, ProductCheck> product_checks;  ///< by instruction
  std::vector<SystemCall> system_calls;
  std::vector<BulkCopy> bulk_copies;
  std::map<int, std::string> files;
  std::vector<SourceLocation> call_sites;  ///< call sites of inlined functions

  /// The registers of a list.
  [[nodiscard]] const std::uint32_t* registers_of(const RegisterList& list) const {
    return registers.data() + list.first;
  }
};

}  // namespace evo::ptx
