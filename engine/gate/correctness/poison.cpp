#include "engine/gate/correctness/poison.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "engine/core/random.hpp"

namespace evo {
namespace {

/// The bit patterns of −infinity (or of the lowest value if the type has no infinity) and of the
/// largest finite value.
struct Bounds {
  std::uint64_t below;
  std::uint64_t above;
};

Bounds bounds_of(Dtype dtype) {
  const DtypeRow& row = row_of(dtype);
  switch (row.kind) {
    case NumberKind::kFloat:
      return {row.sign_bit() | (row.has_infinity() ? row.infinity() : row.largest_finite()),
              row.largest_finite()};
    case NumberKind::kSigned:
      return {row.sign_bit(), row.sign_bit() - 1};
    case NumberKind::kUnsigned:
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
