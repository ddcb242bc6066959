#include "engine/device/virtual/arithmetic/alu_table.hpp"

#include <cpuid.h>

#define EVO_SIMD simd_base
#include "engine/device/virtual/arithmetic/simd_tables.hpp"
#undef EVO_SIMD
#define EVO_SIMD simd_avx2
#include "engine/device/virtual/arithmetic/simd_tables.hpp"
#undef EVO_SIMD

namespace evo::ptx {
namespace {

AluTable build_base() {
  AluTable table;
  simd_base::register_int(table);
  simd_base::register_bit_ops(table);
  simd_base::register_move(table);
  simd_base::register_float(table);
  simd_base::register_half(table);
  simd_base::register_convert(table);
  simd_base::register_compare(table);
  return table;
}

AluTable build_avx2() {
  AluTable table;
  simd_avx2::register_int(table);
  simd_avx2::register_bit_ops(table);
  simd_avx2::register_move(table);
  simd_avx2::register_float(table);
  simd_avx2::register_half(table);
  simd_avx2::register_convert(table);
  simd_avx2::register_compare(table);
  return table;
}

}  // namespace

bool has_avx2() {
  // F16C is bit 29 of ECX of CPUID leaf 1. The F16C bit is read directly, because Clang's
  // __builtin_cpu_supports() does not know F16C.
  constexpr unsigned kF16c = 1U << 29;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
         (ecx & kF16c) != 0;
}

const AluTable& alu_table() {
  static const AluTable table = has_avx2() ? build_avx2() : build_base();
  return table;
}

}  // namespace evo::ptx
