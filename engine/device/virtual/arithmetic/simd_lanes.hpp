#pragma once

#include <cstdint>

#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/warp.hpp"

// Loops over the 32 lanes of a warp. Only files that are compiled once for each instruction set
// include this header. EVO_SIMD is the namespace of the instruction set. The loops have no
// branches, so that the compiler vectorises them.

#ifndef EVO_SIMD
#error "EVO_SIMD must name the namespace of the instruction set"
#endif

namespace evo::ptx::EVO_SIMD {

template <typename T>
EVO_INLINE T* lane_register(const Warp& warp, std::uint32_t offset) {
  return reinterpret_cast<T*>(warp.regs + offset);
}

/// For each lane: dst = a if the lane's bit in `mask` is set, else dst = b.
template <typename T>
EVO_INLINE void choose(T* dst, std::uint32_t mask, const T* a, const T* b) {
#pragma GCC ivdep
  for (int l = 0; l < kWarpSize; ++l) {
    // Both sources are read unconditionally, because the compiler would turn a conditional read
    // into a slower masked read.
    const T chosen = a[l];
    const T other = b[l];
    dst[l] = ((mask >> l) & 1U) != 0 ? chosen : other;
  }
}

template <typename T>
EVO_INLINE void blend(T* dst, const T* value, std::uint32_t mask) {
  choose(dst, mask, value, dst);
}

/// For each lane: dst = F(a). D is the type of dst, and A is the type of a.
template <typename D, typename A, auto F>
void unary(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  D* dst = lane_register<D>(warp, op.dst);
  const A* a = lane_register<const A>(warp, op.src[0]);
  if (warp.exec == kAllLanes) {
#pragma GCC ivdep
    for (int l = 0; l < kWarpSize; ++l) dst[l] = F(a[l]);
    return;
  }
  alignas(64) D value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) value[l] = F(a[l]);
  blend(dst, value, warp.exec);
}

template <typename D, typename A, typename B, auto F>
void binary(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  D* dst = lane_register<D>(warp, op.dst);
  const A* a = lane_register<const A>(warp, op.src[0]);
  const B* b = lane_register<const B>(warp, op.src[1]);
  if (warp.exec == kAllLanes) {
#pragma GCC ivdep
    for (int l = 0; l < kWarpSize; ++l) dst[l] = F(a[l], b[l]);
    return;
  }
  alignas(64) D value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) value[l] = F(a[l], b[l]);
  blend(dst, value, warp.exec);
}

template <typename D, typename A, typename B, typename C, auto F>
void ternary(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  D* dst = lane_register<D>(warp, op.dst);
  const A* a = lane_register<const A>(warp, op.src[0]);
  const B* b = lane_register<const B>(warp, op.src[1]);
  const C* c = lane_register<const C>(warp, op.src[2]);
  if (warp.exec == kAllLanes) {
#pragma GCC ivdep
    for (int l = 0; l < kWarpSize; ++l) dst[l] = F(a[l], b[l], c[l]);
    return;
  }
  alignas(64) D value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) value[l] = F(a[l], b[l], c[l]);
  blend(dst, value, warp.exec);
}

/// For each lane: dst = F(a, b, c, d). A is the type of a and b; c and d have 32 bits.
template <typename D, typename A, auto F>
void quaternary(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  D* dst = lane_register<D>(warp, op.dst);
  const A* a = lane_register<const A>(warp, op.src[0]);
  const A* b = lane_register<const A>(warp, op.src[1]);
  const std::uint32_t* c = lane_register<const std::uint32_t>(warp, op.src[2]);
  const std::uint32_t* d = lane_register<const std::uint32_t>(warp, op.src[3]);
  alignas(64) D value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) value[l] = F(a[l], b[l], c[l], d[l]);
  blend(dst, value, warp.exec);
}

}  // namespace evo::ptx::EVO_SIMD
