// Switches the rest of a file to its instruction set. Include it after all other headers, so that
// their code stays usable on any x86-64.
#ifdef EVO_SIMD_AVX2
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
