#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Handlers of f32 and f64 arithmetic with a directed rounding (.rz .rm .rp) and RoundedOperands.
void rounded_f32(Warp& warp, const Instr& in);
void rounded_f64(Warp& warp, const Instr& in);
/// Handlers of cvt.{rz,rm,rp} with ConvertOperands: .f32.f64, .f32.{s,u}{32,64} and .f64.{s,u}64.
void rounded_f64_to_f32(Warp& warp, const Instr& in);
Handler rounded_integer_to_float(Type destination, Type source);

}  // namespace evo::ptx
