// Makes the compiler use the instruction set for which a file is compiled, from the inclusion of
// this header to the end of the file. Headers whose code must run on every x86-64 CPU must be
// included before this header; simd_prelude.hpp includes them.
#ifdef EVO_SIMD_AVX2
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
