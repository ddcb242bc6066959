// Makes the compiler use the instruction set for which a file is compiled, from the inclusion of
// this header to the end of the file. This header must be the last included header, so that code in
// other headers still runs on every x86-64 CPU.
#ifdef EVO_SIMD_AVX2
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
