#pragma once

#include <cstdint>

#include "engine/device/virtual/arithmetic/alu_table.hpp"

// Short names of integer types. `Names` gives for each unsigned type its PTX types, the signed type
// of its width, and the types of twice its width.

namespace evo::ptx::EVO_SIMD {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

template <typename T>
struct Names;
template <>
struct Names<U16> {
  static constexpr const char* u = "u16";
  static constexpr const char* s = "s16";
  static constexpr const char* b = "b16";
  static constexpr Type type = Type::kB16;
  using Signed = S16;
  using Wide = U32;
  using SWide = S32;
  static constexpr Type wide = Type::kB32;
};
template <>
struct Names<U32> {
  static constexpr const char* u = "u32";
  static constexpr const char* s = "s32";
  static constexpr const char* b = "b32";
  static constexpr Type type = Type::kB32;
  using Signed = S32;
  using Wide = U64;
  using SWide = S64;
  static constexpr Type wide = Type::kB64;
};
template <>
struct Names<U64> {
  static constexpr const char* u = "u64";
  static constexpr const char* s = "s64";
  static constexpr const char* b = "b64";
  static constexpr Type type = Type::kB64;
  using Signed = S64;
  using Wide = unsigned __int128;
  using SWide = __int128;
  static constexpr Type wide = Type::kB128;
};

template <typename T>
constexpr int kBits = static_cast<int>(sizeof(T) * 8);

}  // namespace evo::ptx::EVO_SIMD
