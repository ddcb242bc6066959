#include "engine/device/virtual/arithmetic/alu_table.hpp"

// Declares functions that register instruction handlers. This header has no include guard, because
// it is included once for each instruction set, in that set's namespace.

#ifndef EVO_SIMD
#error "EVO_SIMD must name the namespace of the instruction set"
#endif

namespace evo::ptx::EVO_SIMD {

void register_int(AluTable& table);
void register_bit_ops(AluTable& table);
void register_packed_integers(AluTable& table);
void register_move(AluTable& table);
void register_float(AluTable& table);
void register_half(AluTable& table);
void register_convert(AluTable& table);
void register_convert_to_half(AluTable& table);
void register_compare(AluTable& table);

}  // namespace evo::ptx::EVO_SIMD
