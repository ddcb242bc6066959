#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Handlers of f32 and f64 arithmetic with a directed rounding (.rz, .rm or .rp); their operands
/// are RoundedOperands.
void rounded_f32(Warp& warp, const Instr& in);
void rounded_f64(Warp& warp, const Instr& in);
/// Handlers of cvt.{rz,rm,rp} (ConvertOperands): from f64 to f32, and from integers to f32 and f64.
/// rounded_integer_to_float() returns null for other types.
void rounded_f64_to_f32(Warp& warp, const Instr& in);
Handler rounded_integer_to_float(Type destination, Type source);

}  // namespace evo::ptx
