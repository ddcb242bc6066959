#pragma once

#include <array>
#include <string_view>

// Names of the standard libraries and of CUDA's host headers, and their definitions for device
// code.

namespace evo {

struct Known {
  std::string_view name;
  std::string_view text;  ///< the type that a typedef names, or the text of a #define
};

// Types that libcu++ also defines are the same as in libcu++, because a source may also include
// libcu++'s headers.
inline constexpr std::array<Known, 18> kTypes = {{{"int8_t", "signed char"},
                                                  {"int16_t", "signed short"},
                                                  {"int32_t", "signed int"},
                                                  {"int64_t", "signed long long"},
                                                  {"uint8_t", "unsigned char"},
                                                  {"uint16_t", "unsigned short"},
                                                  {"uint32_t", "unsigned int"},
                                                  {"uint64_t", "unsigned long long"},
                                                  {"intptr_t", "signed long long"},
                                                  {"uintptr_t", "unsigned long long"},
                                                  {"intmax_t", "signed long long"},
                                                  {"uintmax_t", "unsigned long long"},
                                                  {"ssize_t", "signed long"},
                                                  {"uint", "unsigned int"},
                                                  {"ushort", "unsigned short"},
                                                  {"ulong", "unsigned long"},
                                                  {"u_char", "unsigned char"},
                                                  {"u_int", "unsigned int"}}};

/// Types of the driver's interface and of host libraries that kernels may take as parameters, in
/// addition to CUtensorMap.
inline constexpr std::array<Known, 6> kHostTypes = {{{"CUtexObject", "unsigned long long"},
                                                     {"CUsurfObject", "unsigned long long"},
                                                     {"cufftReal", "float"},
                                                     {"cufftDoubleReal", "double"},
                                                     {"cufftComplex", "float2"},
                                                     {"cufftDoubleComplex", "double2"}}};

inline constexpr std::array<Known, 13> kIntegerLimits = {
    {{"CHAR_BIT", "8"},
     {"SCHAR_MIN", "(-128)"},
     {"SCHAR_MAX", "127"},
     {"UCHAR_MAX", "255"},
     {"SHRT_MIN", "(-32768)"},
     {"SHRT_MAX", "32767"},
     {"USHRT_MAX", "65535"},
     {"INT_MIN", "(-2147483647 - 1)"},
     {"INT_MAX", "2147483647"},
     {"UINT_MAX", "4294967295U"},
     {"LLONG_MIN", "(-9223372036854775807LL - 1)"},
     {"LLONG_MAX", "9223372036854775807LL"},
     {"ULLONG_MAX", "18446744073709551615ULL"}}};

inline constexpr std::array<Known, 13> kFixedLimits = {
    {{"INT8_MIN", "(-128)"},
     {"INT8_MAX", "127"},
     {"UINT8_MAX", "255"},
     {"INT16_MIN", "(-32768)"},
     {"INT16_MAX", "32767"},
     {"UINT16_MAX", "65535"},
     {"INT32_MIN", "(-2147483647 - 1)"},
     {"INT32_MAX", "2147483647"},
     {"UINT32_MAX", "4294967295U"},
     {"INT64_MIN", "(-9223372036854775807LL - 1)"},
     {"INT64_MAX", "9223372036854775807LL"},
     {"UINT64_MAX", "18446744073709551615ULL"},
     {"SIZE_MAX", "18446744073709551615ULL"}}};

/// Function-like macros of <stdint.h> that make constants.
inline constexpr std::array<Known, 8> kFixedConstants = {{{"INT8_C", "(c) c"},
                                                          {"INT16_C", "(c) c"},
                                                          {"INT32_C", "(c) c"},
                                                          {"INT64_C", "(c) c##LL"},
                                                          {"UINT8_C", "(c) c"},
                                                          {"UINT16_C", "(c) c"},
                                                          {"UINT32_C", "(c) c##U"},
                                                          {"UINT64_C", "(c) c##ULL"}}};

inline constexpr std::array<Known, 11> kRealLimits = {{{"FLT_MAX", "3.402823466e+38F"},
                                                       {"FLT_MIN", "1.175494351e-38F"},
                                                       {"FLT_EPSILON", "1.192092896e-07F"},
                                                       {"FLT_DIG", "6"},
                                                       {"FLT_MANT_DIG", "24"},
                                                       {"DBL_MAX", "1.7976931348623158e+308"},
                                                       {"DBL_MIN", "2.2250738585072014e-308"},
                                                       {"DBL_EPSILON", "2.2204460492503131e-016"},
                                                       {"DBL_DIG", "15"},
                                                       {"DBL_MANT_DIG", "53"},
                                                       {"FLT_RADIX", "2"}}};

inline constexpr std::array<Known, 16> kMathConstants = {
    {{"INFINITY", "__builtin_bit_cast(float, 0x7f800000)"},
     {"HUGE_VALF", "__builtin_bit_cast(float, 0x7f800000)"},
     {"NAN", "__builtin_bit_cast(float, 0x7fffffff)"},
     {"M_E", "2.7182818284590452354"},
     {"M_LOG2E", "1.4426950408889634074"},
     {"M_LOG10E", "0.43429448190325182765"},
     {"M_LN2", "0.69314718055994530942"},
     {"M_LN10", "2.30258509299404568402"},
     {"M_PI", "3.14159265358979323846"},
     {"M_PI_2", "1.57079632679489661923"},
     {"M_PI_4", "0.78539816339744830962"},
     {"M_1_PI", "0.31830988618379067154"},
     {"M_2_PI", "0.63661977236758134308"},
     {"M_2_SQRTPI", "1.12837916709551257390"},
     {"M_SQRT2", "1.41421356237309504880"},
     {"M_SQRT1_2", "0.70710678118654752440"}}};

/// Names of C++'s standard library that device code lacks and that sources often name in `using`
/// and `typedef`.
inline constexpr auto kHostsOwn = std::to_array<std::string_view>(
    {"cout",          "cerr",          "clog",          "cin",        "endl",     "flush",
     "ostream",       "istream",       "ifstream",      "ofstream",   "fstream",  "iostream",
     "stringstream",  "ostringstream", "istringstream", "string",     "vector",   "list",
     "map",           "set",           "deque",         "queue",      "stack",    "multimap",
     "unordered_map", "unordered_set", "unique_ptr",    "shared_ptr", "thread",   "mutex",
     "setw",          "setprecision",  "fixed",         "sort",       "function", "to_string"});

}  // namespace evo
