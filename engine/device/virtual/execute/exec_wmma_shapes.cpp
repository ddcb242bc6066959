#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_wmma.hpp"
#include "engine/device/virtual/execute/mma_fragments.hpp"

// Executes wmma products of shapes other than m16n16k16 of f16 or bf16, on fragments in the layout
// that exec_wmma.cpp describes.

namespace evo::ptx {
namespace {

struct NamedShape {
  std::string_view mnk;
  WmmaShape shape;
};

constexpr std::array kShapes = {
    NamedShape{"m8n32k16", {8, 32, 16, Type::kF16, Type::kF32}},
    NamedShape{"m8n32k16", {8, 32, 16, Type::kF16, Type::kF16}},
    NamedShape{"m8n32k16", {8, 32, 16, Type::kBf16, Type::kF32}},
    NamedShape{"m8n32k16", {8, 32, 16, Type::kS8, Type::kS32}},
    NamedShape{"m8n32k16", {8, 32, 16, Type::kU8, Type::kS32}},
    NamedShape{"m32n8k16", {32, 8, 16, Type::kF16, Type::kF32}},
    NamedShape{"m32n8k16", {32, 8, 16, Type::kF16, Type::kF16}},
    NamedShape{"m32n8k16", {32, 8, 16, Type::kBf16, Type::kF32}},
    NamedShape{"m32n8k16", {32, 8, 16, Type::kS8, Type::kS32}},
    NamedShape{"m32n8k16", {32, 8, 16, Type::kU8, Type::kS32}},
    NamedShape{"m16n16k16", {16, 16, 16, Type::kS8, Type::kS32}},
    NamedShape{"m16n16k16", {16, 16, 16, Type::kU8, Type::kS32}},
    NamedShape{"m16n16k8", {16, 16, 8, Type::kTf32, Type::kF32}},
    NamedShape{"m8n8k4", {8, 8, 4, Type::kF64, Type::kF64}},  // multiplied in exec_double_mma.cpp
};

constexpr int kMostRows = 32;

/// Reads the elements of a fragment, and whether they are uninitialised.
class Fragment {
 public:
  Fragment(const Warp& warp, const std::uint32_t* regs, Type type)
      : warp_(warp), regs_(regs), type_(type) {
    per_ = type == Type::kF16 || type == Type::kBf16 ? 2
           : type == Type::kS8 || type == Type::kU8  ? 4
                                                     : 1;
  }

  [[nodiscard]] std::uint32_t bits(int linear) const {
    const int bits = 32 / per_;
    const std::uint32_t word = warp_.reg<const std::uint32_t>(reg(linear))[lane(linear)];
    const std::uint32_t shifted = word >> (linear % per_ * bits);
    return bits == 32 ? shifted : shifted & ((1U << bits) - 1);
  }
  [[nodiscard]] float real(int linear) const {
    const std::uint32_t word = bits(linear);
    if (type_ == Type::kF16) return half_to_float(static_cast<std::uint16_t>(word));
    if (type_ == Type::kBf16) return bfloat_to_float(static_cast<std::uint16_t>(word));
    return bits_float(type_ == Type::kTf32 ? word & 0xffffe000U : word);
  }
  [[nodiscard]] std::int32_t integer(int linear) const {
    const std::uint32_t word = bits(linear);
    if (type_ == Type::kS8) return static_cast<std::int8_t>(word);
    return static_cast<std::int32_t>(word);
  }
  [[nodiscard]] bool is_tainted(int linear) const {
    return get_taint(warp_, reg(linear), 4, lane(linear)) != 0;
  }

 private:
  [[nodiscard]] std::uint32_t reg(int linear) const { return regs_[linear / (kWarpSize * per_)]; }
  [[nodiscard]] int lane(int linear) const { return linear / per_ % kWarpSize; }

  const Warp& warp_;
  const std::uint32_t* regs_;
  Type type_;
  int per_ = 1;
};

/// The elements of the result D as bit patterns.
using Result = std::vector<std::uint32_t>;

Result integer_product(const WmmaShape& s, const Fragment& a, const Fragment& b, const Fragment& c,
                       bool saturate) {
  Result result;
  for (int i = 0; i < s.m * s.n; ++i) {
    std::int64_t sum = c.integer(i);
    for (int k = 0; k < s.k; ++k) {
      const std::int32_t product = a.integer(i / s.n * s.k + k) * b.integer(i % s.n * s.k + k);
      sum += product;
    }
    if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    result.push_back(static_cast<std::uint32_t>(sum));
  }
  return result;
}

/// Computes the product by m16n8 tiles, whose rows beyond the matrix are zero, so that every
/// element is the same sum as in mma.sync.
Result real_product(const Warp& warp, const WmmaShape& s, const Fragment& a, const Fragment& b,
                    const Fragment& c) {
  const MmaShape& tile_shape = *find_mma_shape(s.k, s.ab, s.ab, s.c);
  Result result(static_cast<std::size_t>(s.m * s.n));
  for (int top = 0; top < s.m; top += 16) {
    const int rows = std::min(16, s.m - top);
    for (int left = 0; left < s.n; left += 8) {
      MmaTile tile{};
      for (int i = 0; i < rows * s.k; ++i) tile.a[i] = a.real(top * s.k + i);
      for (int k = 0; k < s.k; ++k) {
        for (int j = 0; j < 8; ++j) tile.b[k * 8 + j] = b.real((left + j) * s.k + k);
      }
      for (int i = 0; i < rows * 8; ++i) {
        tile.c[i] = c.real((top + i / 8) * s.n + left + i % 8);
      }
      multiply_tile(warp, tile_shape, tile);
      for (int i = 0; i < rows * 8; ++i) {
        const int at = (top + i / 8) * s.n + left + i % 8;
        result[static_cast<std::size_t>(at)] =
            s.c == Type::kF16 ? float_to_half(tile.d[i]) : float_bits(tile.d[i]);
      }
    }
  }
  return result;
}

/// For each element of D, whether it is tainted: a tainted element of A taints its row, a tainted
/// element of B its column, and a tainted element of C only the same element of D.
std::vector<bool> tainted_elements(const WmmaShape& s, const Fragment& a, const Fragment& b,
                                   const Fragment& c) {
  std::array<bool, kMostRows> rows{};
  std::array<bool, kMostRows> columns{};
  for (int i = 0; i < s.m * s.k; ++i) {
    if (a.is_tainted(i)) rows[static_cast<std::size_t>(i / s.k)] = true;
  }
  for (int i = 0; i < s.n * s.k; ++i) {
    if (b.is_tainted(i)) columns[static_cast<std::size_t>(i / s.k)] = true;
  }
  std::vector<bool> tainted;
  for (int i = 0; i < s.m * s.n; ++i) {
    tainted.push_back(c.is_tainted(i) || rows[static_cast<std::size_t>(i / s.n)] ||
                      columns[static_cast<std::size_t>(i % s.n)]);
  }
  return tainted;
}

}  // namespace

const WmmaShape* find_wmma_shape(std::string_view mnk, Type ab, Type c) {
  const auto* const found = std::ranges::find_if(kShapes, [&](const NamedShape& one) {
    return one.mnk == mnk && one.shape.ab == ab && one.shape.c == c;
  });
  return found == kShapes.end() ? nullptr : &found->shape;
}

const WmmaShape* find_wmma_fragment(std::string_view mnk, WmmaPart part, Type type) {
  const auto* const found = std::ranges::find_if(kShapes, [&](const NamedShape& one) {
    return one.mnk == mnk && (part == WmmaPart::kC ? one.shape.c : one.shape.ab) == type;
  });
  return found == kShapes.end() ? nullptr : &found->shape;
}

void exec_wmma_shape_mma(Warp& warp, const Instr& in) {
  if (!wmma_ready(warp)) return;
  const auto& op = in.as<WmmaShapeOperands>();
  const WmmaShape& shape = *op.shape;
  const std::uint32_t* d = warp.cta->program().registers_of(op.registers);
  const std::uint32_t* a_regs = d + shape.c_regs();
  const std::uint32_t* b_regs = a_regs + op.a_regs;
  const Fragment a(warp, a_regs, shape.ab);
  const Fragment b(warp, b_regs, shape.ab);
  const Fragment c(warp, b_regs + op.b_regs, shape.c);
  const Result result = shape.c == Type::kS32 ? integer_product(shape, a, b, c, op.saturates)
                                              : real_product(warp, shape, a, b, c);
  std::vector<bool> tainted;
  if (warp.tainted) tainted = tainted_elements(shape, a, b, c);
  const int per = shape.c == Type::kF16 ? 2 : 1;
  for (int r = 0; r < shape.c_regs(); ++r) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int linear = (r * kWarpSize + lane) * per;
      const auto first = static_cast<std::size_t>(linear);
      std::uint32_t word = result[first];
      if (per == 2) word |= result[first + 1] << 16;
      warp.reg<std::uint32_t>(d[r])[lane] = word;
      if (!warp.tainted) continue;
      std::uint32_t bytes = tainted[first] ? (per == 2 ? 0x3U : 0xfU) : 0U;
      if (per == 2 && tainted[first + 1]) bytes |= 0xcU;
      set_taint(warp, d[r], 4, lane, bytes);
    }
  }
}

}  // namespace evo::ptx
