#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/device/virtual/arithmetic/alu_operands.hpp"
#include "engine/device/virtual/decode/registers.hpp"
#include "engine/device/virtual/execute/exec_async.hpp"
#include "engine/device/virtual/execute/exec_atomic.hpp"
#include "engine/device/virtual/execute/exec_barrier.hpp"
#include "engine/device/virtual/execute/exec_bulk.hpp"
#include "engine/device/virtual/execute/exec_cluster.hpp"
#include "engine/device/virtual/execute/exec_control.hpp"
#include "engine/device/virtual/execute/exec_double_mma.hpp"
#include "engine/device/virtual/execute/exec_lanes.hpp"
#include "engine/device/virtual/execute/exec_matrix.hpp"
#include "engine/device/virtual/execute/exec_mbarrier.hpp"
#include "engine/device/virtual/execute/exec_memory.hpp"
#include "engine/device/virtual/execute/exec_mma.hpp"
#include "engine/device/virtual/execute/exec_system_calls.hpp"
#include "engine/device/virtual/execute/exec_texture.hpp"
#include "engine/device/virtual/execute/exec_vector.hpp"
#include "engine/device/virtual/execute/exec_wgmma.hpp"
#include "engine/device/virtual/execute/exec_wmma.hpp"
#include "engine/ptx/opcode.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// The rule by which taint, the mark of uninitialised bytes, propagates to the destination.
enum class TaintRule : std::uint8_t {
  kAny,      ///< any tainted source byte taints the whole destination lane
  kMove,     ///< byte by byte
  kAnd,      ///< byte by byte; an initialised zero byte clears taint
  kOr,       ///< byte by byte; an initialised 0xff byte clears taint
  kXor,      ///< byte by byte, from either source
  kCarry,    ///< add, sub, mul: all bytes from the lowest tainted byte upwards
  kSelect,   ///< selp: from the selected source and the predicate
  kPredAnd,  ///< an initialised false clears taint
  kPredOr,   ///< an initialised true clears taint
  kPack,     ///< byte by byte, from the elements of a vector to one register
  kUnpack,   ///< byte by byte, from one register to the elements of a vector
  kPermute,  ///< prmt: byte by byte if the selector is initialised, otherwise all bytes
  kShift,    ///< shl, shr by a known multiple of 8: byte by byte, otherwise as kAny
  kOwn,      ///< the handler propagates taint itself
};

/// The unit of an SM that executes an instruction, for the predicted time.
enum class Pipe : std::uint8_t {
  kAlu,
  kFma,
  kFp64,
  kHalf,
  kMufu,
  kConvert,
  kTensor,
  kShared,
  kGlobal,
  kLocal,
  kConst,
  kControl,
  kBarrier,
  kMove,
  kCount,
};

/// The operands of a decoded instruction; there is a type for each family of instructions. Operands
/// refer to registers by byte offsets in the warp's register file.
using Operands = std::variant<
    NoOperands, AluOperands, ConvertOperands, RoundedOperands, CompareOperands, BranchOperands,
    IndexedBranchOperands, ClockOperands, SleepOperands, ActiveMaskOperands, SystemCallOperands,
    PackOperands, UnpackOperands, BarrierOperands, WarpBarrierOperands, CopyOperands,
    WaitGroupOperands, BulkOperands, BulkWaitOperands, MbarrierInitOperands, MbarrierInvalOperands,
    MbarrierArriveOperands, MbarrierWaitOperands, CopyArriveOperands, ShuffleOperands, VoteOperands,
    MatchOperands, ReduxOperands, ElectOperands, TextureOperands, AtomicOperands, AccessOperands,
    ParameterOperands, MatrixMoveOperands, MatrixTransposeOperands, MmaOperands, WgmmaOperands,
    WgmmaWaitOperands, SetmaxnregOperands, WmmaMoveOperands, WmmaOperands, WmmaShapeOperands,
    DoubleMmaOperands, ClusterBarrierOperands, ClusterAddressOperands, AsyncStoreOperands>;

/// A decoded instruction. An Instr is so small that it fits in one cache line.
struct Instr {
  Handler fn = nullptr;
  std::uint32_t guard = kNoRegister;
  bool guard_negated = false;
  Operands operands;

  template <typename T>
  [[nodiscard, gnu::always_inline]] const T& as() const {
    return std::get<T>(operands);
  }
};
static_assert(sizeof(Instr) <= 64, "an Instr must fit in one cache line");

/// Data about an instruction for reports, taint and predicted costs.
struct InstrInfo {
  int line = 0;
  SourceLocation source = {};
  Pipe pipe = Pipe::kAlu;
  TaintRule taint = TaintRule::kAny;
  std::uint8_t dst_bytes = 4;  ///< width of the destination register
  std::uint8_t src_bytes = 4;  ///< width of the first source register
  bool helper = false;         ///< inserted by the decoder; not in the PTX
  bool is_branch = false;      ///< may jump
  bool ends_path = false;      ///< never continues at the next instruction
  bool is_fp8 = false;         ///< tensor work on e4m3 or e5m2
  std::uint32_t flops = 0;     ///< tensor work of a warp in operations: multiply-adds × 2
  Opcode opcode = Opcode::kOther;
  std::string spelling;                     ///< for messages
  std::vector<std::uint32_t> sources;       ///< registers read (offsets), without the guard
  std::vector<std::uint32_t> destinations;  ///< registers written
  /// the reason why the instruction cannot be executed; empty if it can
  std::string unsupported;
};

}  // namespace evo::ptx
