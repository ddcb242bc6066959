#include "engine/device/virtual/execute/exec_mma.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/mma_fragments.hpp"

namespace evo::ptx {
namespace {

constexpr MmaShape shape(Type a, Type b, Type c, int k, int bits) {
  const int a_regs = 16 * k * bits / 1024;
  const int c_regs = c == Type::kF16 ? 2 : 4;
  return {a, b, c, k, a_regs, a_regs / 2, c_regs};
}

constexpr std::array kShapes = {
    shape(Type::kF16, Type::kF16, Type::kF32, 8, 16),
    shape(Type::kF16, Type::kF16, Type::kF32, 16, 16),
    shape(Type::kF16, Type::kF16, Type::kF16, 8, 16),
    shape(Type::kF16, Type::kF16, Type::kF16, 16, 16),
    shape(Type::kBf16, Type::kBf16, Type::kF32, 8, 16),
    shape(Type::kBf16, Type::kBf16, Type::kF32, 16, 16),
    shape(Type::kTf32, Type::kTf32, Type::kF32, 4, 32),
    shape(Type::kTf32, Type::kTf32, Type::kF32, 8, 32),
    shape(Type::kE4m3, Type::kE4m3, Type::kF32, 32, 8),
    shape(Type::kE4m3, Type::kE5m2, Type::kF32, 32, 8),
    shape(Type::kE5m2, Type::kE4m3, Type::kF32, 32, 8),
    shape(Type::kE5m2, Type::kE5m2, Type::kF32, 32, 8),
    shape(Type::kE4m3, Type::kE4m3, Type::kF16, 32, 8),
    shape(Type::kE5m2, Type::kE5m2, Type::kF16, 32, 8),
    shape(Type::kS8, Type::kS8, Type::kS32, 16, 8),
    shape(Type::kS8, Type::kS8, Type::kS32, 32, 8),
    shape(Type::kU8, Type::kU8, Type::kS32, 16, 8),
    shape(Type::kU8, Type::kU8, Type::kS32, 32, 8),
    shape(Type::kS8, Type::kU8, Type::kS32, 32, 8),
    shape(Type::kU8, Type::kS8, Type::kS32, 32, 8),
};

/// A tf32 number as a float: the hardware ignores the 13 lowest bits.
float tf32_value(std::uint32_t word) { return bits_float(word & 0xffffe000U); }

/// Widens the 16 bytes that each group of four lanes holds in a register to a row of floats;
/// consecutive rows are `stride` floats apart.
void gather_rows(const Warp& warp, std::uint32_t reg, Type type, float* to, int stride) {
  constexpr int kGroups = 8;
  constexpr int kGroupBytes = 16;
  widen_rows(warp.regs + reg, type, kGroupBytes, kGroups, to, stride);
}

std::int32_t integer_element(std::uint32_t word, int element, Type type) {
  const auto byte = static_cast<std::uint8_t>(word >> (8 * element));
  return type == Type::kS8 ? static_cast<std::int8_t>(byte) : static_cast<std::int32_t>(byte);
}

}  // namespace

const MmaShape* find_mma_shape(int k, Type a, Type b, Type c) {
  const auto* const found = std::ranges::find_if(
      kShapes, [&](const MmaShape& s) { return s.k == k && s.a == a && s.b == b && s.c == c; });
  return found == kShapes.end() ? nullptr : found;
}

int elements_per_register(Type type) {
  if (type == Type::kF16 || type == Type::kBf16) return 2;
  return type == Type::kTf32 ? 1 : 4;
}

int least_exponent(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kE5m2:
      return -14;
    case Type::kE4m3:
      return -6;
    default:
      return -126;
  }
}

void gather_a(const Warp& warp, const std::uint32_t* regs, Type type, int k, float* a) {
  const auto per = static_cast<std::size_t>(elements_per_register(type));
  const auto width = static_cast<std::size_t>(k);
  const std::size_t count = width * 16 / (32 * per);
  for (std::size_t i = 0; i < count; ++i) {
    float* to = a + 8 * (i % 2) * width + 4 * per * (i / 2);
    if (type != Type::kTf32) {
      gather_rows(warp, regs[i], type, to, k);
      continue;
    }
    const auto* words = warp.reg<const std::uint32_t>(regs[i]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      to[lane / 4 * width + lane % 4] = tf32_value(words[lane]);
  }
}

void gather_b(const Warp& warp, const std::uint32_t* regs, Type type, int k, float* b) {
  const auto per = static_cast<std::size_t>(elements_per_register(type));
  const std::size_t count = static_cast<std::size_t>(k) * 8 / (32 * per);
  if (type != Type::kTf32) {
    alignas(32) float columns[8 * 32];
    for (std::size_t i = 0; i < count; ++i)
      gather_rows(warp, regs[i], type, columns + 4 * per * i, k);
    transpose_rows(columns, k, b);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto* words = warp.reg<const std::uint32_t>(regs[i]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      b[(lane % 4 + 4 * i) * 8 + lane / 4] = tf32_value(words[lane]);
  }
}

// C and D are stored in row-major order. Half i of the tile (i = 0, 1) holds elements 2i and 2i + 1
// of lane 0, then those of lane 1, and so on. The functions that gather C and scatter D work on a
// copy of the tile and not on the registers, so that the compiler can vectorise the loops.

void gather_c(const Warp& warp, const std::uint32_t* regs, Type type, float* c) {
  constexpr std::size_t kHalf = 2 * std::size_t{kWarpSize};
  for (std::size_t i = 0; i < 2; ++i) {
    float* half = c + kHalf * i;
    if (type == Type::kF16) {
      widen_rows(warp.regs + regs[i], type, kWarpSize * 4, 1, half, 0);
      continue;
    }
    const auto* even = warp.reg<const float>(regs[2 * i]);
    const auto* odd = warp.reg<const float>(regs[2 * i + 1]);
    alignas(32) float pairs[kHalf];
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      pairs[2 * lane] = even[lane];
      pairs[2 * lane + 1] = odd[lane];
    }
    std::memcpy(half, pairs, sizeof pairs);
  }
}

void scatter_d(Warp& warp, const std::uint32_t* regs, Type type, const float* d) {
  constexpr std::size_t kHalf = 2 * std::size_t{kWarpSize};
  for (std::size_t i = 0; i < 2; ++i) {
    alignas(32) float half[kHalf];
    std::memcpy(half, d + kHalf * i, sizeof half);
    if (type == Type::kF16) {
      auto* words = warp.reg<std::uint32_t>(regs[i]);
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        words[lane] = float_to_half(half[2 * lane]) |
                      static_cast<std::uint32_t>(float_to_half(half[2 * lane + 1])) << 16;
      }
      continue;
    }
    auto* even = warp.reg<float>(regs[2 * i]);
    auto* odd = warp.reg<float>(regs[2 * i + 1]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      even[lane] = half[2 * lane];
      odd[lane] = half[2 * lane + 1];
    }
  }
}

void multiply_tile(const Warp& warp, const MmaShape& shape, MmaTile& tile) {
  const MmaNumerics& numerics = warp.cta->launch().numerics;
  const bool fp8 = shape.a == Type::kE4m3 || shape.a == Type::kE5m2;
  if (fp8 && numerics.fp8_as_halves) {
    unpacked_fp8_tile(numerics.fp8, shape.c == Type::kF16, tile.a, tile.b, tile.c, tile.d);
    return;
  }
  const DotRule& rule = fp8 ? numerics.fp8 : shape.a == Type::kTf32 ? numerics.tf32 : numerics.half;
  mma_tile(rule, shape.k, least_exponent(shape.a == shape.b ? shape.a : Type::kE5m2),
           shape.c == Type::kF16, tile.a, tile.b, tile.c, tile.d);
}

void integer_tile(Warp& warp, const std::uint32_t* d, const std::uint32_t* a,
                  const std::uint32_t* b, const std::uint32_t* c, const MmaShape& shape,
                  bool saturate) {
  std::array<std::array<std::int32_t, 32>, 16> left{};
  std::array<std::array<std::int32_t, 8>, 32> right{};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    for (std::size_t e = 0; e < 4; ++e) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape.a_regs); ++i) {
        left[lane / 4 + 8 * (i % 2)][(lane % 4) * 4 + e + 16 * (i / 2)] = integer_element(
            warp.reg<const std::uint32_t>(a[i])[lane], static_cast<int>(e), shape.a);
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape.b_regs); ++i) {
        right[(lane % 4) * 4 + e + 16 * i][lane / 4] = integer_element(
            warp.reg<const std::uint32_t>(b[i])[lane], static_cast<int>(e), shape.b);
      }
    }
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = lane / 4 + 8 * (i / 2);
      const std::size_t column = 2 * (lane % 4) + i % 2;
      std::int64_t sum = warp.reg<const std::int32_t>(c[i])[lane];
      for (std::size_t n = 0; n < static_cast<std::size_t>(shape.k); ++n) {
        const int product = left[row][n] * right[n][column];
        sum += product;
      }
      if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      warp.reg<std::uint32_t>(d[i])[lane] = static_cast<std::uint32_t>(sum);
    }
  }
}

void widen_chunk(const std::byte* chunk, Type type, float* values) {
  constexpr int kBytes = 16;
  widen_rows(chunk, type, kBytes, 1, values, 0);
}

std::uint32_t tainted_rows_of_a(const Warp& warp, const std::uint32_t* a, int a_regs) {
  std::uint32_t rows = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < a_regs; ++i) {
      if (get_taint(warp, a[i], 4, lane) != 0) rows |= 1U << (lane / 4 + 8 * (i % 2));
    }
  }
  return rows;
}

void spread_mma_taint(Warp& warp, const std::uint32_t* d, const std::uint32_t* c, int c_regs,
                      std::uint32_t rows, std::uint32_t columns) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < c_regs; ++i) {
      const int row = lane / 4 + 8 * (c_regs == 2 ? i : i / 2);
      const int column = 2 * (lane % 4) + (c_regs == 2 ? 0 : i % 2);
      const std::uint32_t pair = c_regs == 2 ? 3U : 1U;
      const bool mixed = ((rows >> row) & 1U) != 0 || ((columns >> column) & pair) != 0;
      const std::uint32_t before = c == nullptr ? 0 : get_taint(warp, c[i], 4, lane);
      set_taint(warp, d[i], 4, lane, mixed ? 0xfU : before);
    }
  }
}

void propagate_mma_taint(Warp& warp, const std::uint32_t* d, const std::uint32_t* a, int a_regs,
                         const std::uint32_t* b, int b_regs, const std::uint32_t* c, int c_regs) {
  std::uint32_t columns = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < b_regs; ++i) {
      if (get_taint(warp, b[i], 4, lane) != 0) columns |= 1U << (lane / 4);
    }
  }
  spread_mma_taint(warp, d, c, c_regs, tainted_rows_of_a(warp, a, a_regs), columns);
}

void exec_mma(Warp& warp, const Instr& in) {
  if (!converge(warp, kAllLanes)) return;
  sync_lanes(warp);
  const auto& op = in.as<MmaOperands>();
  const MmaShape& shape = *op.shape;
  const std::uint32_t* d = warp.cta->program().registers_of(op.registers);
  const std::uint32_t* a = d + shape.c_regs;
  const std::uint32_t* b = a + shape.a_regs;
  const std::uint32_t* c = b + shape.b_regs;
  if (warp.exec != kAllLanes) {
    warp.cta->fail(HazardKind::kDivergence, pc_of(warp), -1,
                   "mma.sync needs all 32 lanes of warp " + std::to_string(warp.index));
    return;
  }
  if (warp.tainted) propagate_mma_taint(warp, d, a, shape.a_regs, b, shape.b_regs, c, shape.c_regs);
  if (shape.c == Type::kS32) {
    integer_tile(warp, d, a, b, c, shape, op.saturates);
    return;
  }
  MmaTile tile;
  gather_a(warp, a, shape.a, shape.k, tile.a);
  gather_b(warp, b, shape.b, shape.k, tile.b);
  gather_c(warp, c, shape.c, tile.c);
  multiply_tile(warp, shape, tile);
  scatter_d(warp, d, shape.c, tile.d);
}

}  // namespace evo::ptx
