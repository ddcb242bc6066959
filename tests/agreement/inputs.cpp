#include <array>
#include <bit>

#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Bits of f32 edge values, which edge_floats() uses with random signs. The list contains special
// values, and ties in the rounding to f16 (which drops 13 bits), bf16 (16), e4m3 (20) and e5m2 (21)
// with their neighbours, around 1 and at the ends of these types' ranges.
constexpr std::array<U32, 52> kEdgeFloats = {
    0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007fffff, 0x00800000, 0x00800001, 0x7f7fffff,
    0x7f7ffffe, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x3f800000, 0x3f7fffff, 0x3f800001,
    0x3f801000, 0x3f803000, 0x3f801001, 0x3f800fff, 0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff,
    0x3f880000, 0x3f980000, 0x3f880001, 0x3f900000, 0x3fb00000, 0x477fe000, 0x477fefff, 0x477ff000,
    0x47800000, 0x43e00000, 0x43e80000, 0x43e80001, 0x43f00000, 0x47600000, 0x47680000, 0x47700000,
    0x38800000, 0x387fc000, 0x387fe000, 0x33800000, 0x33000000, 0x33000001, 0x3c800000, 0x3b000000,
    0x3a800000, 0x3a800001, 0x4b000001, 0x4f000000};
constexpr std::array<U16, 20> kEdgeHalves = {0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x0401, 0x3bff,
                                             0x3c00, 0x3c01, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
                                             0x3f80, 0x0080, 0x007f, 0x7f80, 0x7f7f, 0x7fc1};
constexpr std::array<U64, 16> kEdgeDoubles = {
    0x0000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0x3ff0000000000000,
    0x3ff0000010000000, 0x3ff0000030000000, 0x3ff0000000000001, 0x41dfffffffe00000,
    0x43e0000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x3690000000000000};

/// An edge value of an integer with `bits` bits: a power of two, its neighbour or its complement,
/// or all ones.
U64 corner(Random& random, unsigned bits) {
  const U64 power = U64{1} << random.below(bits);
  const std::array<U64, 5> choices = {power, power - 1, ~power, power + 1, ~U64{0}};
  return choices[random.below(choices.size())];
}

}  // namespace

Inputs::Inputs(std::string_view name) : random_(20261121) {
  std::uint64_t seed = 0;
  for (const char c : name) seed = mix_seed(seed, static_cast<unsigned char>(c));
  random_ = Random(seed);
}

std::vector<float> Inputs::floats(std::size_t count, double low, double high) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(low + (high - low) * random_.uniform());
  return values;
}

std::vector<double> Inputs::doubles(std::size_t count, double low, double high) {
  std::vector<double> values(count);
  for (double& v : values) v = low + (high - low) * random_.uniform();
  return values;
}

std::vector<int> Inputs::integers(std::size_t count, int low, int high) {
  std::vector<int> values(count);
  const auto span = static_cast<U64>(static_cast<std::int64_t>(high) - low + 1);
  for (int& v : values) v = static_cast<int>(low + static_cast<std::int64_t>(random_.below(span)));
  return values;
}

std::vector<std::uint8_t> Inputs::bytes(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  for (auto& v : values) v = static_cast<std::uint8_t>(random_.bits());
  return values;
}

std::vector<float> Inputs::edge_floats(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const U64 bits = random_.bits();
    U32 word = static_cast<U32>(bits);
    // After one of each edge value, a quarter of the floats are edge values, a quarter have
    // magnitudes from 2^-16 to 2^17, and half have arbitrary bits.
    if (i < kEdgeFloats.size() || bits >> 62 == 0) {
      word = kEdgeFloats[i < kEdgeFloats.size() ? i : (bits >> 32) % kEdgeFloats.size()] |
             (word & 0x80000000U);
    } else if (bits >> 63 == 0) {
      word = (word & 0x807fffffU) | static_cast<U32>(111 + (bits >> 32) % 33) << 23;
    }
    values[i] = std::bit_cast<float>(word);
  }
  return values;
}

std::vector<double> Inputs::edge_doubles(std::size_t count) {
  std::vector<double> values(count);
  for (double& v : values) {
    const U64 choice = random_.below(4);
    U64 bits = random_.bits();
    if (choice == 0) bits = kEdgeDoubles[random_.below(kEdgeDoubles.size())] | (bits & 1ULL << 63);
    if (choice >= 2) bits = (bits & 0x800fffffffffffffULL) | (1000 + random_.below(70)) << 52;
    v = std::bit_cast<double>(bits);
  }
  return values;
}

std::vector<U32> Inputs::edge_halves(std::size_t count) {
  std::vector<U32> values(count);
  const auto one = [&] {
    const U64 bits = random_.bits();
    if (bits >> 62 != 0) return static_cast<U32>(bits & 0xffffU);
    return static_cast<U32>(kEdgeHalves[(bits >> 32) % kEdgeHalves.size()] | (bits & 0x8000U));
  };
  for (U32& v : values) {
    v = one();
    v |= one() << 16;
  }
  return values;
}

std::vector<U32> Inputs::words(std::size_t count) {
  std::vector<U32> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<U32>(i > 0 && random_.below(2) == 0 ? corner(random_, 32)
                                                                : (i == 0 ? 0 : random_.bits()));
  return values;
}

std::vector<U64> Inputs::wide_words(std::size_t count) {
  std::vector<U64> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = i == 0 ? 0 : random_.below(2) == 0 ? corner(random_, 64) : random_.bits();
  return values;
}

std::vector<U32> Inputs::half_pairs(std::size_t count, unsigned mantissa_bits, unsigned lowest,
                                    unsigned highest) {
  std::vector<U32> values(count);
  const auto one = [&] {
    const U64 bits = random_.bits();
    const auto mantissa = static_cast<U32>(bits & ((1U << mantissa_bits) - 1));
    const auto exponent = static_cast<U32>(lowest + (bits >> 32) % (highest - lowest + 1));
    return static_cast<U32>(bits >> 16 & 0x8000U) | exponent << mantissa_bits | mantissa;
  };
  for (U32& v : values) {
    v = one();
    v |= one() << 16;
  }
  return values;
}

}  // namespace evo::agreement
