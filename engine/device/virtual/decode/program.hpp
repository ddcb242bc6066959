#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/virtual/decode/instr.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A register that holds a constant, which is written before a warp starts.
struct ConstantRegister {
  std::uint32_t offset;
  std::uint32_t bytes;  ///< bytes per lane: 2, 4, 8 or 16; 4 for a predicate
  std::uint64_t bits;
  bool predicate = false;
};

/// Special registers that the kernel reads; they are stored as ordinary registers and initialised
/// when a CTA starts.
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
  kReservedSharedBegin,  ///< offset of the part of shared memory that the system reserves
  kReservedSharedCap,
  kReservedSharedEnd,
  kReservedShared0,
  kReservedShared1,
  kEnvReg1,  ///< upper half of the address of the memory with which cooperative groups
             ///< synchronise the grid
  kEnvReg2,  ///< lower half of this address
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNClusterIdX,
  kNClusterIdY,
  kNClusterIdZ,
  kClusterCtaIdX,
  kClusterCtaIdY,
  kClusterCtaIdZ,
  kClusterNCtaIdX,
  kClusterNCtaIdY,
  kClusterNCtaIdZ,
  kClusterCtaRank,
  kClusterNCtaRank,
  kIsExplicitCluster,
  kCount,
};

/// The data with which exec_checked() checks an instruction that may use registers of a wgmma in
/// flight.
struct ProductCheck {
  Handler original = nullptr;        ///< the original handler
  std::vector<std::uint32_t> reads;  ///< each wgmma whose accumulators the instruction reads
  /// each wgmma whose accumulators or A fragments the instruction overwrites
  std::vector<std::uint32_t> writes;
  /// true for a wgmma whose registers may have been written after the last wgmma.fence
  bool unfenced = false;
};

/// A call of vprintf or __assertfail: the offsets of its parameters and its result in local memory.
struct SystemCall {
  std::vector<std::uint32_t> parameters;
  std::uint32_t result = 0;
  bool has_result = false;
};

/// The position of a kernel argument in the parameter block.
struct ParameterLayout {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// A decoded entry that is ready to run. Programs are immutable, and all warps of a launch share
/// the same Program.
struct Program {
  std::string entry;
  std::string target;
  std::vector<Instr> code;
  std::vector<InstrInfo> info;
  std::vector<std::uint32_t> registers;       ///< register lists of instructions
  std::vector<std::uint32_t> branch_targets;  ///< targets of indexed branches
  std::vector<ConstantRegister> constants;
  std::vector<std::pair<Special, std::uint32_t>> specials;
  /// registers that may be read before they are written
  std::vector<std::uint32_t> unset_registers;
  std::vector<std::uint32_t> unset_bytes;  ///< bytes of each of unset_registers
  std::uint32_t register_bytes = 0;        ///< size of a warp's register file
  /// approximate maximum of the 32-bit registers of a thread that are live at the same time
  int live_registers = 0;
  std::vector<ParameterLayout> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;  ///< offset of dynamic shared memory
  /// the kernel uses the part of a CTA's shared memory that the system reserves
  bool uses_reserved_shared = false;
  std::vector<std::pair<std::uint32_t, std::string>> shared_names;  ///< offset → variable
  std::uint32_t local_bytes = 0;                                    ///< per thread
  int shared_granule =
      4;  ///< bytes per shadow word of shared memory: the narrowest access, at most 4
  int global_granule = 4;  ///< bytes per shadow word of global memory, likewise
  /// The kernel has atomics on global memory that return a value, or both `reads_signals` and
  /// `sends_signals`, or it synchronises its grid. The results of a sample of its CTAs cannot be
  /// extrapolated to the grid, because a CTA may wait for another CTA or take over its work.
  bool claims_work = false;
  bool reads_signals = false;  ///< has strong reads of global memory
  bool sends_signals = false;  ///< has atomics or strong stores on global memory
  bool has_changes = false;    ///< has strong accesses to global memory (which include atomics) or
                               ///< clusters, so that accesses of its CTAs may be ordered
  bool cooperative = false;    ///< its CTAs wait for each other, so all must be resident at once
  /// the kernel executes griddepcontrol.wait, so it may start while the previous kernel still runs
  bool waits_for_grid = false;
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};  ///< CTAs of a cluster in each dimension
  bool explicit_cluster = false;     ///< has .explicitcluster: must be launched with clusters
  bool has_cluster_barrier = false;  ///< has barrier.cluster
  int max_threads = 0;
  int launch_registers = 0;  ///< per thread, from the directives of the entry; 0: not stated
  std::map<std::uint32_t, ProductCheck> product_checks;  ///< by instruction
  std::vector<SystemCall> system_calls;
  std::vector<BulkCopy> bulk_copies;
  std::map<int, std::string> files;
  std::vector<SourceLocation> call_sites;  ///< call sites of inlined functions

  /// The number of CTAs of a cluster.
  [[nodiscard]] std::uint32_t cluster_ctas() const { return cluster[0] * cluster[1] * cluster[2]; }
  /// A pointer to the first register of a list.
  [[nodiscard]] const std::uint32_t* registers_of(const RegisterList& list) const {
    return registers.data() + list.first;
  }
};

}  // namespace evo::ptx
