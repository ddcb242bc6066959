#include <cstddef>

#include "engine/device/virtual/arithmetic/mma_numerics.hpp"

// Declares the functions of ops_mma.cpp. This header has no include guard, because it is included
// once for each instruction set, in that set's namespace.

#ifndef EVO_SIMD
#error "EVO_SIMD must name the namespace of the instruction set"
#endif

namespace evo::ptx::EVO_SIMD {

void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d);
void widen_rows(const std::byte* from, Type type, int bytes_per_row, int rows, float* to,
                int stride);
void transpose_rows(const float* from, int k, float* to);

}  // namespace evo::ptx::EVO_SIMD
