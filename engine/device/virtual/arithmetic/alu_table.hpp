#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// An instruction that computes every lane from registers alone (AluOperands).
struct AluEntry {
  Handler fn = nullptr;
  Type dst = Type::kNone;
  std::vector<Type> srcs;
  TaintRule taint = TaintRule::kAny;
  Pipe pipe = Pipe::kAlu;
};

/// Handlers that the decoder inserts or selects by number rather than by spelling.
struct HelperHandlers {
  /// [log2 of destination bytes][log2 of source bytes][source is signed]: copies with zero- or
  /// sign-extension or truncation; bytes 2, 4, 8, 16 (sources also 1: the low byte).
  Handler resize[5][5][2] = {};  // AluOperands
  /// [signed][log2 bytes − 1]: AluOperands.
  Handler integer_to_f64[2][3] = {};
  Handler integer_to_f32[2][3] = {};
  /// [signed][log2 bytes]: ConvertOperands.
  Handler f64_to_integer[2][4] = {};
  Handler f32_to_integer[2][4] = {};
  /// Float to the same float type: ConvertOperands.
  Handler same_f32 = nullptr;
  Handler same_f64 = nullptr;
  /// [unsigned, signed, float][log2 bytes]: CompareOperands.
  Handler setp[3][4] = {};
  Handler setp_f16 = nullptr;
  Handler setp_bf16 = nullptr;
};

/// The table for one instruction set of the host.
struct AluTable {
  std::unordered_map<std::string, AluEntry> entries;
  HelperHandlers helpers;

  void add(const std::string& spelling, Handler fn, Type dst, std::vector<Type> srcs,
           TaintRule taint = TaintRule::kAny, Pipe pipe = Pipe::kAlu) {
    entries[spelling] = {fn, dst, std::move(srcs), taint, pipe};
  }
};

/// Whether the host's processor supports code compiled for AVX2.
[[nodiscard]] bool has_avx2();

/// The table for the host's processor (AVX2 if supported), built once.
[[nodiscard]] const AluTable& alu_table();

}  // namespace evo::ptx
