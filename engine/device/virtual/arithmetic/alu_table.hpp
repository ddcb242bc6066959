#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// An instruction that computes every lane from registers alone.
struct AluEntry {
  Handler fn = nullptr;
  Type dst = Type::kNone;
  std::vector<Type> srcs;
  TaintRule taint = TaintRule::kAny;
  Pipe pipe = Pipe::kAlu;
};

/// Handlers the decoder inserts or picks by number rather than by spelling.
struct HelperHandlers {
  /// [log2 of destination bytes][log2 of source bytes][source is signed]: copy with zero- or
  /// sign-extension or truncation; bytes 2, 4, 8, 16 (sources also 1: the low byte).
  Handler resize[5][5][2] = {};
  Handler integer_to_f64[2][3] = {};  ///< [signed][log2 bytes − 1]: rounding in aux
  Handler integer_to_f32[2][3] = {};
  Handler f64_to_integer[2][4] = {};  ///< [signed][log2 bytes]: rounding in aux
  Handler f32_to_integer[2][4] = {};
  Handler setp[3][4] = {};  ///< [unsigned, signed, float][log2 bytes]
  Handler setp_f16 = nullptr;
  Handler setp_bf16 = nullptr;
  Handler slow_f32 = nullptr;  ///< directed rounding: op and mode in aux
  Handler slow_f64 = nullptr;
};

/// Rounding as the number in Instr::aux.
enum class Rounding : std::uint16_t { kNearest = 0, kZero = 1, kDown = 2, kUp = 3, kAway = 4 };

/// Bits of Instr::aux of conversions beside the rounding.
inline constexpr std::uint16_t kRoundingMask = 7;
inline constexpr std::uint16_t kFtz = 8;
inline constexpr std::uint16_t kSat = 16;
/// Operation of slow_f32 / slow_f64, shifted by kSlowShift.
enum class SlowOp : std::uint16_t {
  kAdd,
  kSub,
  kMul,
  kFma,
  kDiv,
  kSqrt,
  kRcp,
  kF64ToF32,
  kIntegral
};
inline constexpr int kSlowShift = 8;

/// Comparison of setp in Instr::aux.
enum class Compare : std::uint16_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};
/// How setp combines with its third operand, in Instr::aux shifted by kCombineShift.
enum class Combine : std::uint16_t { kNone, kAnd, kOr, kXor };
inline constexpr int kCombineShift = 8;

/// The table of one instruction set of the host.
struct AluTable {
  std::unordered_map<std::string, AluEntry> entries;
  HelperHandlers helpers;

  void add(const std::string& spelling, Handler fn, Type dst, std::vector<Type> srcs,
           TaintRule taint = TaintRule::kAny, Pipe pipe = Pipe::kAlu) {
    entries[spelling] = {fn, dst, std::move(srcs), taint, pipe};
  }
};

/// Whether the host's processor runs what is compiled for AVX2.
[[nodiscard]] bool has_avx2();

/// The table for the host's processor (AVX2 where it has it), built once.
[[nodiscard]] const AluTable& alu_table();

}  // namespace evo::ptx
