#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/virtual/parse/ptx_types.hpp"

namespace evo::ptx {

struct Warp;
struct Instr;

/// Executes one decoded instruction for the lanes of `Warp::exec`.
using Handler = void (*)(Warp&, const Instr&);

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffU;
/// A register occupies one slot of 32 × 4 bytes (64-bit: two, 128-bit: four); 16-bit registers use
/// the first half of theirs, predicates the first word (one bit a lane).
inline constexpr std::uint32_t kSlotBytes = 128;
inline constexpr std::uint32_t kNoRegister = 0xffffffffU;

/// How the taint of the sources (bytes never written by anyone) reaches the destination.
enum class TaintRule : std::uint8_t {
  kAny,      ///< any tainted source byte taints all of the destination lane
  kMove,     ///< byte by byte
  kAnd,      ///< byte by byte; a known zero byte clears
  kOr,       ///< byte by byte; a known 0xff byte clears
  kXor,      ///< byte by byte, either
  kCarry,    ///< add, sub, mul: bytes from the lowest tainted one upwards
  kSelect,   ///< selp: the chosen source and the predicate
  kPredAnd,  ///< a known false clears
  kPredOr,   ///< a known true clears
  kPack,     ///< vector to scalar
  kUnpack,   ///< scalar to vector
  kPermute,  ///< prmt with a known selector
  kShift,    ///< shl, shr by a known multiple of 8: byte by byte, else as kAny
  kOwn,      ///< the handler keeps taint itself
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

/// One decoded instruction: dense, all operands are byte offsets into the warp's register file.
struct Instr {
  Handler fn = nullptr;
  std::uint32_t dst = kNoRegister;
  std::uint32_t dst2 = kNoRegister;
  std::uint32_t src[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  std::uint32_t guard = kNoRegister;
  bool guard_negated = false;
  bool always = false;     ///< runs even when no lane is enabled (branches need it)
  bool negated = false;    ///< the predicate operand is negated
  std::uint8_t bytes = 0;  ///< of one element of an access
  std::uint8_t count = 1;  ///< elements of a vector access
  Space space = Space::kGeneric;
  std::uint16_t aux = 0;    ///< meaning depends on the handler
  std::uint32_t extra = 0;  ///< first of the operands in Program::extra
  std::uint32_t extra_count = 0;
  std::int64_t imm = 0;  ///< address offset, branch target, …
};

/// What only reports, taint and costs need of an instruction.
struct InstrInfo {
  int line = 0;
  SourceLocation source = {};
  Pipe pipe = Pipe::kAlu;
  TaintRule taint = TaintRule::kAny;
  std::uint8_t dst_bytes = 4;  ///< width of the destination register
  std::uint8_t src_bytes = 4;  ///< width of the first source register
  bool helper = false;         ///< inserted by the decoder: not an instruction of the PTX
  bool is_branch = false;      ///< may continue at imm, or at the targets in extra
  bool ends_path = false;      ///< never continues at the next instruction
  std::uint32_t flops = 0;     ///< tensor work of a warp: multiply-adds × 2
  std::string opcode;
  std::vector<std::uint32_t> sources;       ///< registers read (offsets), guard included
  std::vector<std::uint32_t> destinations;  ///< registers written
  std::string unsupported;                  ///< not empty: why the instruction cannot be executed
};

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
  std::vector<std::uint32_t> extra;
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
  std::vector<std::pair<std::uint32_t, std::string>> shared_names;  ///< offset → variable
  std::uint32_t local_bytes = 0;                                    ///< per thread
  int shared_granule = 4;    ///< bytes per shadow word: the narrowest access
  bool claims_work = false;  ///< has atomics on global memory that return a value
  bool cooperative = false;  ///< its CTAs wait for each other: all must be on the device at once
  int max_threads = 0;
  int launch_registers = 0;  ///< per thread, from the directives of the entry; 0: not stated
  std::map<std::uint32_t, ProductCheck> product_checks;  ///< by instruction
  std::vector<SystemCall> system_calls;
  std::map<int, std::string> files;
  std::vector<SourceLocation> call_sites;  ///< of inlined functions
};

}  // namespace evo::ptx
