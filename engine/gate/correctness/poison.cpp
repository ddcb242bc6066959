#include "engine/gate/correctness/poison.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "engine/core/random.hpp"

namespace evo {
namespace {

/// The bits of −infinity (of e4m3, which has none, its lowest value) and of the largest value.
struct Bounds {
  std::uint64_t below;
  std::uint64_t above;
};

Bounds bounds_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kE4m3:
      return {0xfe, 0x7e};
    case Dtype::kE5m2:
      return {0xfc, 0x7b};
    case Dtype::kF16:
      return {0xfc00, 0x7bff};
    case Dtype::kBf16:
      return {0xff80, 0x7f7f};
    case Dtype::kF32:
      return {0xff800000, 0x7f7fffff};
    case Dtype::kF64:
      return {0xfff0000000000000, 0x7fefffffffffffff};
    case Dtype::kI8:
      return {0x80, 0x7f};
    case Dtype::kI16:
      return {0x8000, 0x7fff};
    case Dtype::kI32:
      return {0x80000000, 0x7fffffff};
    case Dtype::kI64:
      return {0x8000000000000000, 0x7fffffffffffffff};
    case Dtype::kU8:
    case Dtype::kU16:
    case Dtype::kU32:
    case Dtype::kU64:
      break;
  }
  return {0, std::numeric_limits<std::uint64_t>::max()};
}

template <typename Word>
std::optional<std::size_t> first_poisoned_word(std::span<const std::byte> once,
                                               std::span<const std::byte> again,
                                               std::span<const std::byte> pattern) {
  Word poison = 0;
  std::memcpy(&poison, pattern.data(), sizeof poison);
  const auto flipped = static_cast<Word>(~poison);
  for (std::size_t at = 0; at < once.size(); at += sizeof poison) {
    Word first = 0;
    Word second = flipped;
    std::memcpy(&first, once.data() + at, sizeof first);
    if (!again.empty()) std::memcpy(&second, again.data() + at, sizeof second);
    if (first == poison && second == flipped) return at;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::byte> poison_pattern(Poison poison, Dtype dtype, std::uint64_t seed) {
  std::uint64_t bits = 0;
  switch (poison) {
    case Poison::kNan:
      bits = std::numeric_limits<std::uint64_t>::max();
      break;
    case Poison::kBelow:
      bits = bounds_of(dtype).below;
      break;
    case Poison::kAbove:
      bits = bounds_of(dtype).above;
      break;
    case Poison::kZero:
      break;
    case Poison::kRandom:
      bits = Random(seed).bits();
      break;
  }
  std::vector<std::byte> pattern(size_of(dtype));
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = std::byte(bits >> (8 * i) & 0xff);
  return pattern;
}

std::optional<std::size_t> first_poisoned(std::span<const std::byte> once,
                                          std::span<const std::byte> again,
                                          std::span<const std::byte> pattern) {
  switch (pattern.size()) {
    case 1:
      return first_poisoned_word<std::uint8_t>(once, again, pattern);
    case 2:
      return first_poisoned_word<std::uint16_t>(once, again, pattern);
    case 4:
      return first_poisoned_word<std::uint32_t>(once, again, pattern);
    default:
      return first_poisoned_word<std::uint64_t>(once, again, pattern);
  }
}

Poison poison_of_run(std::size_t run) {
  constexpr std::array kOrder = {Poison::kNan, Poison::kAbove, Poison::kBelow, Poison::kZero,
                                 Poison::kRandom};
  return kOrder[run % kOrder.size()];
}

}  // namespace evo
