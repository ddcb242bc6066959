// Makes the compiler use the instruction set for which a file is compiled in the rest of the file.
// The files that need this header include it last, so that code in other headers still runs on
// every x86-64 CPU.
#ifdef EVO_SIMD_AVX2
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
