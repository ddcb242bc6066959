#include "engine/ptx/types.hpp"

#include <algorithm>
#include <array>

namespace evo::ptx {
namespace {

struct TypeEntry {
  std::string_view name;
  Type type;
  int bits;
};

constexpr std::array kTypes = {
    TypeEntry{"pred", Type::kPred, 1},      TypeEntry{"b8", Type::kB8, 8},
    TypeEntry{"b16", Type::kB16, 16},       TypeEntry{"b32", Type::kB32, 32},
    TypeEntry{"b64", Type::kB64, 64},       TypeEntry{"b128", Type::kB128, 128},
    TypeEntry{"u8", Type::kU8, 8},          TypeEntry{"u16", Type::kU16, 16},
    TypeEntry{"u32", Type::kU32, 32},       TypeEntry{"u64", Type::kU64, 64},
    TypeEntry{"s8", Type::kS8, 8},          TypeEntry{"s16", Type::kS16, 16},
    TypeEntry{"s32", Type::kS32, 32},       TypeEntry{"s64", Type::kS64, 64},
    TypeEntry{"f16", Type::kF16, 16},       TypeEntry{"f16x2", Type::kF16x2, 32},
    TypeEntry{"bf16", Type::kBf16, 16},     TypeEntry{"bf16x2", Type::kBf16x2, 32},
    TypeEntry{"f32", Type::kF32, 32},       TypeEntry{"f64", Type::kF64, 64},
    TypeEntry{"tf32", Type::kTf32, 32},     TypeEntry{"e4m3", Type::kE4m3, 8},
    TypeEntry{"e5m2", Type::kE5m2, 8},      TypeEntry{"e4m3x2", Type::kE4m3x2, 16},
    TypeEntry{"e5m2x2", Type::kE5m2x2, 16},
};

}  // namespace

std::optional<Type> type_from_name(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &TypeEntry::name);
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

std::string_view name_of(Type type) {
  const auto found = std::ranges::find(kTypes, type, &TypeEntry::type);
  return found == kTypes.end() ? std::string_view() : found->name;
}

int bit_width(Type type) {
  const auto found = std::ranges::find(kTypes, type, &TypeEntry::type);
  return found == kTypes.end() ? 0 : found->bits;
}

}  // namespace evo::ptx
