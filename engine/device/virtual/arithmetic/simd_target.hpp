// Switches the rest of a file to the instruction set it is compiled for. Included after every other
// header, so that what those define stays usable on any x86-64.
#ifdef EVO_SIMD_AVX2
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
