#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The handler for one spelling of an instruction ("add.f32"), which computes each lane's result
/// from the lane's registers (AluOperands).
struct AluEntry {
  Handler fn = nullptr;
  Type dst = Type::kNone;
  std::vector<Type> srcs;
  TaintRule taint = TaintRule::kAny;
  Pipe pipe = Pipe::kAlu;
};

/// Handlers that the decoder selects by the types and widths of the operands, not by the
/// instruction's spelling.
struct HelperHandlers {
  /// Handlers that copy a register and extend it by zeros or by its sign, or truncate it, by [log2
  /// of destination bytes][log2 of source bytes][source is signed]. Destinations and sources have
  /// 2, 4, 8 or 16 bytes. For destinations of 2 bytes, the source may also be the low byte of a
  /// register.
  Handler resize[5][5][2] = {};  // AluOperands
  /// Handlers that convert integers to floats, by [signed][(log2 of the integer's bytes) − 1],
  /// with AluOperands.
  Handler integer_to_f64[2][3] = {};
  Handler integer_to_f32[2][3] = {};
  /// The same to f32, rounding to odd.
  Handler integer_to_odd[2][3] = {};
  /// Handlers of cvt to f16 and bf16, with any rounding, with ConvertOperands.
  Handler f32_to_narrow[2] = {};
  Handler f64_to_narrow[2] = {};
  /// Handlers that saturate 64-bit integers to integers, by [source is signed][destination is
  /// signed][log2 of the destination's bytes], with AluOperands. Results of 8 bits are extended.
  Handler saturate[2][2][4] = {};
  /// Handlers that convert floats to integers, by [signed][log2 of the integer's bytes], with
  /// ConvertOperands.
  Handler f64_to_integer[2][4] = {};
  Handler f32_to_integer[2][4] = {};
  /// Handlers of cvt from a float to the same type, which may round to an integral value, with
  /// ConvertOperands.
  Handler same_f32 = nullptr;
  Handler same_f64 = nullptr;
  /// Handlers that compare, by [unsigned, signed, float][log2 of the bytes], with CompareOperands.
  Handler setp[3][4] = {};
  Handler setp_f16 = nullptr;
  Handler setp_bf16 = nullptr;
  Handler setp_f16x2 = nullptr;
  Handler setp_bf16x2 = nullptr;
  Handler select_halves = nullptr;  ///< of set for pairs; AluOperands
};

/// The handlers for one instruction set of the host CPU.
struct AluTable {
  std::unordered_map<std::string, AluEntry> entries;
  HelperHandlers helpers;

  void add(const std::string& spelling, Handler fn, Type dst, std::vector<Type> srcs,
           TaintRule taint = TaintRule::kAny, Pipe pipe = Pipe::kAlu) {
    entries[spelling] = {fn, dst, std::move(srcs), taint, pipe};
  }
};

/// The registers in which CPUID reports the extensions that simd_target.hpp enables.
struct CpuidWords {
  unsigned leaf_1_ecx = 0;
  unsigned leaf_7_ebx = 0;
  unsigned extended_ecx = 0;  ///< of leaf 0x80000001
};

/// True if `words` report all extensions that simd_target.hpp enables. A virtual machine can hide
/// each extension on its own.
[[nodiscard]] bool has_simd_target(const CpuidWords& words);

/// True if the host's CPU and operating system support all extensions that simd_target.hpp enables.
[[nodiscard]] bool has_avx2();

/// The table for the host's CPU, which is built once. The table contains the AVX2 handlers if
/// has_avx2() is true.
[[nodiscard]] const AluTable& alu_table();

}  // namespace evo::ptx
