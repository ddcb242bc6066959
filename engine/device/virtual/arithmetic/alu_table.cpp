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
  simd_base::register_packed_integers(table);
  simd_base::register_move(table);
  simd_base::register_float(table);
  simd_base::register_half(table);
  simd_base::register_convert(table);
  simd_base::register_convert_to_half(table);
  simd_base::register_compare(table);
  return table;
}

AluTable build_avx2() {
  AluTable table;
  simd_avx2::register_int(table);
  simd_avx2::register_bit_ops(table);
  simd_avx2::register_packed_integers(table);
  simd_avx2::register_move(table);
  simd_avx2::register_float(table);
  simd_avx2::register_half(table);
  simd_avx2::register_convert(table);
  simd_avx2::register_convert_to_half(table);
  simd_avx2::register_compare(table);
  return table;
}

}  // namespace

bool has_simd_target(const CpuidWords& words) {
  constexpr unsigned kLeaf1 = bit_FMA | bit_F16C | bit_POPCNT;
  constexpr unsigned kLeaf7 = bit_AVX2 | bit_BMI | bit_BMI2;
  return (words.leaf_1_ecx & kLeaf1) == kLeaf1 && (words.leaf_7_ebx & kLeaf7) == kLeaf7 &&
         (words.extended_ecx & bit_LZCNT) != 0;
}

bool has_avx2() {
  // The bits are read directly, because Clang's __builtin_cpu_supports() knows neither F16C nor
  // LZCNT. Unlike CPUID, the function tells whether the operating system supports AVX2.
  CpuidWords words;
  unsigned unused = 0;
  return __builtin_cpu_supports("avx2") != 0 &&
         __get_cpuid(1, &unused, &unused, &words.leaf_1_ecx, &unused) != 0 &&
         __get_cpuid_count(7, 0, &unused, &words.leaf_7_ebx, &unused, &unused) != 0 &&
         __get_cpuid(0x80000001, &unused, &unused, &words.extended_ecx, &unused) != 0 &&
         has_simd_target(words);
}

const AluTable& alu_table() {
  static const AluTable table = has_avx2() ? build_avx2() : build_base();
  return table;
}

}  // namespace evo::ptx
