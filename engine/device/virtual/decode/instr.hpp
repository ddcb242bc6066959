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

/// How the taint of the sources (uninitialised bytes) propagates to the destination.
enum class TaintRule : std::uint8_t {
  kAny,      ///< any tainted source byte taints the whole destination lane
  kMove,     ///< byte by byte
  kAnd,      ///< byte by byte; a known zero byte clears
  kOr,       ///< byte by byte; a known 0xff byte clears
  kXor,      ///< byte by byte, from either source
  kCarry,    ///< add, sub, mul: bytes from the lowest tainted one upwards
  kSelect,   ///< selp: the chosen source and the predicate
  kPredAnd,  ///< a known false clears
  kPredOr,   ///< a known true clears
  kPack,     ///< vector to scalar
  kUnpack,   ///< scalar to vector
  kPermute,  ///< prmt with a known selector
  kShift,    ///< shl, shr by a known multiple of 8: byte by byte, otherwise as kAny
  kOwn,      ///< the handler propagates taint itself
};

/// The unit that executes an instruction, for the predicted time.
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

/// The operands of each instruction family, as byte offsets into the warp's register file.
using Operands = std::variant<
    NoOperands, AluOperands, ConvertOperands, RoundedOperands, CompareOperands, BranchOperands,
    IndexedBranchOperands, ClockOperands, SleepOperands, ActiveMaskOperands, SystemCallOperands,
    PackOperands, UnpackOperands, BarrierOperands, WarpBarrierOperands, CopyOperands,
    WaitGroupOperands, BulkOperands, BulkWaitOperands, MbarrierInitOperands, MbarrierInvalOperands,
    MbarrierArriveOperands, MbarrierWaitOperands, CopyArriveOperands, ShuffleOperands, VoteOperands,
    MatchOperands, ReduxOperands, ElectOperands, TextureOperands, AtomicOperands, AccessOperands,
    ParameterOperands, MatrixMoveOperands, MatrixTransposeOperands, MmaOperands, WgmmaOperands,
    WgmmaWaitOperands, SetmaxnregOperands, WmmaMoveOperands, WmmaOperands, WmmaShapeOperands,
    DoubleMmaOperands>;

/// One decoded instruction; compact, so that a warp touches few cache lines.
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
static_assert(sizeof(Instr) <= 64, "an instruction is a cache line");

/// Data of an instruction that only reports, taint and costs need.
struct InstrInfo {
  int line = 0;
  SourceLocation source = {};
  Pipe pipe = Pipe::kAlu;
  TaintRule taint = TaintRule::kAny;
  std::uint8_t dst_bytes = 4;  ///< width of the destination register
  std::uint8_t src_bytes = 4;  ///< width of the first source register
  bool helper = false;         ///< inserted by the decoder; not an instruction of the PTX
  bool is_branch = false;      ///< may continue at another instruction than the next one
  bool ends_path = false;      ///< never continues at the next instruction
  bool is_fp8 = false;         ///< tensor work on e4m3 or e5m2
  std::uint32_t flops = 0;     ///< tensor work of a warp in operations: multiply-adds × 2
  Opcode opcode = Opcode::kOther;
  std::string spelling;                     ///< for messages
  std::vector<std::uint32_t> sources;       ///< registers read (offsets), including the guard
  std::vector<std::uint32_t> destinations;  ///< registers written
  /// if not empty: why the instruction cannot be executed
  std::string unsupported;
};

}  // namespace evo::ptx
