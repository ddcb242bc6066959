#include "engine/problem/generator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "engine/core/parallel.hpp"
#include "engine/core/random.hpp"
#include "engine/problem/normal_quantile.hpp"
#include "engine/problem/special_values.hpp"

namespace evo {
namespace {

constexpr std::size_t kQuantiles = 1U << 16;

/// Number of random bits from which an element of type `dtype` is drawn.
unsigned bits_of(Dtype dtype) { return size_of(dtype) <= 2 ? 16 : size_of(dtype) == 4 ? 32 : 64; }

/// Splits 0 to 2^64 into 2^bits equal intervals and returns the middle of the lowest interval.
constexpr std::uint64_t half_of(unsigned bits) {
  return bits == 64 ? 0 : std::uint64_t{1} << (63 - bits);
}

/// The standard normal distribution, interpolated linearly between quantiles except in the tails.
class StandardNormal {
 public:
  StandardNormal() : bounds_(kParts + 1) {
    for (std::size_t i = 1; i < kParts; ++i) {
      bounds_[i] = normal_quantile(static_cast<double>(i) / static_cast<double>(kParts));
    }
  }

  /// The quantile at `bits` / 2^64.
  [[nodiscard]] double at(std::uint64_t bits) const {
    const std::size_t part = bits >> kBitsInside;
    if (part < kTail) return normal_quantile((static_cast<double>(bits) + 0.5) * 0x1.0p-64);
    if (part >= kParts - kTail) {
      return -normal_quantile((static_cast<double>(~bits) + 0.5) * 0x1.0p-64);
    }
    const double inside = static_cast<double>(bits & (~std::uint64_t{0} >> 12)) * 0x1.0p-52;
    return bounds_[part] + (bounds_[part + 1] - bounds_[part]) * inside;
  }

 private:
  static constexpr unsigned kBitsInside = 52;
  static constexpr std::size_t kParts = 1U << 12;  // the table fits the L1 cache of a CPU
  // number of intervals at each end of the distribution in which quantiles are computed without
  // interpolation
  static constexpr std::size_t kTail = 16;

  std::vector<double> bounds_;
};

const StandardNormal& standard_normal() {
  static const StandardNormal normal;
  return normal;
}

/// Quantiles of a normal or uniform distribution: at(bits) is the quantile at `bits` / 2^64.
class Values {
 public:
  Values(const Generator& generator, Dtype dtype)
      : normal_(standard_normal()),
        is_normal_(generator.distribution == Distribution::kNormal),
        start_(generator.first),
        scale_(is_normal_ ? generator.second : generator.second - generator.first) {
    if (is_normal_) return;
    range_ = {generator.first, generator.second};
    const auto fits = [&](double value) { return std::fabs(value) <= largest_finite(dtype); };
    const bool is_wide = is_floating(dtype) && size_of(dtype) >= 4;
    if (!is_wide || !fits(generator.first) || !fits(generator.second)) return;
    const double highest = next_below(dtype, generator.second);
    const double lowest = 0 - next_below(dtype, std::nextafter(-generator.first, kInfinity));
    if (lowest <= highest) range_ = {lowest, highest};
  }

  [[nodiscard]] double at(std::uint64_t bits) const {
    if (is_normal_) return start_ + scale_ * normal_.at(bits);
    const double value = start_ + scale_ * (static_cast<double>(bits >> 11) * 0x1.0p-53);
    return std::clamp(value, range_.low, range_.high);
  }

  /// The smallest and the largest element that can be drawn from `bits` random bits.
  [[nodiscard]] Extremes extremes(unsigned bits) const {
    const std::uint64_t first = half_of(bits);
    return is_normal_ ? Extremes{at(first), at(~first)} : range_;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  const StandardNormal& normal_;
  bool is_normal_;
  double start_;
  double scale_;
  Extremes range_;  ///< for the uniform distribution
};

/// Fills elements [first, first + count) of `data`, one block, from `random`, the block's stream.
using FillPart =
    std::function<void(std::byte* data, std::size_t first, std::size_t count, Random& random)>;

/// Fills large arrays in blocks, with one thread for each CPU. Each block has its own random
/// stream, so the data do not depend on the number of threads.
std::vector<std::byte> in_parts(std::size_t count, std::size_t size, std::uint64_t seed,
                                const FillPart& fill) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::vector<std::byte> data(count * size);
  const std::size_t parts = (count + kPart - 1) / kPart;
  const std::size_t threads = std::min<std::size_t>(parts, std::thread::hardware_concurrency());
  in_parallel(threads, parts, [&](const auto& next) {
    while (const auto part = next()) {
      Random random(*part == 0 ? seed : mix_seed(seed, *part));
      const std::size_t first = *part * kPart;
      fill(data.data(), first, std::min(kPart, count - first), random);
    }
  });
  return data;
}

/// The 2^16 quantiles of a distribution, encoded as `dtype`.
std::vector<std::byte> quantile_table(const Values& values, Dtype dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> table(kQuantiles * size);
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    encode(dtype, values.at((std::uint64_t{i} << 48) + half_of(16)), table.data() + i * size);
  }
  return table;
}

/// Fills elements of one and two bytes. Takes the quantiles from a table if there are more elements
/// than entries in the table.
std::vector<std::byte> from_quantiles(const Values& values, Dtype dtype, std::size_t count,
                                      std::uint64_t seed) {
  const bool use_table = count > kQuantiles;
  const auto table = use_table ? quantile_table(values, dtype) : std::vector<std::byte>();
  const std::size_t size = size_of(dtype);
  return in_parts(count, size, seed,
                  [&](std::byte* data, std::size_t first, std::size_t part, Random& random) {
                    std::uint64_t bits = 0;
                    for (std::size_t i = 0; i < part; ++i) {
                      if (i % 4 == 0) bits = random.bits();
                      const std::uint64_t index = bits & (kQuantiles - 1);
                      std::byte* target = data + (first + i) * size;
                      if (use_table) {
                        std::memcpy(target, table.data() + index * size, size);
                      } else {
                        encode(dtype, values.at((index << 48) + half_of(16)), target);
                      }
                      bits >>= 16;
                    }
                  });
}

/// Fills elements of four and eight bytes.
std::vector<std::byte> from_places(const Values& values, Dtype dtype, std::size_t count,
                                   std::uint64_t seed) {
  const std::size_t size = size_of(dtype);
  return in_parts(count, size, seed,
                  [&](std::byte* data, std::size_t first, std::size_t part, Random& random) {
                    const bool takes_half = bits_of(dtype) == 32;
                    std::uint64_t bits = 0;
                    for (std::size_t i = first; i < first + part; ++i) {
                      if (!takes_half || i % 2 == 0) bits = random.bits();
                      const std::uint64_t place = takes_half ? (bits << 32) + half_of(32) : bits;
                      if (dtype == Dtype::kF32) {
                        const auto value = static_cast<float>(values.at(place));
                        std::memcpy(data + i * size, &value, size);
                      } else {
                        encode(dtype, values.at(place), data + i * size);
                      }
                      bits >>= 32;
                    }
                  });
}

std::vector<std::byte> from_integers(const IntegerRange& range, Dtype dtype, std::size_t count,
                                     std::uint64_t seed) {
  const std::size_t size = size_of(dtype);
  const bool is_wide = size_of(dtype) == 8;
  const std::uint64_t values = range.high - range.low + 1;  // 0 means the full range of 64 bits
  return in_parts(
      count, size, seed, [&](std::byte* data, std::size_t first, std::size_t part, Random& random) {
        for (std::size_t i = first; i < first + part; ++i) {
          const std::uint64_t bits =
              range.low + (values == 0 ? random.bits() : random.below(values));  // modulo 2^64
          if (is_wide) {
            std::memcpy(data + i * size, &bits, size);
          } else {
            const double value = range.is_signed
                                     ? static_cast<double>(static_cast<std::int64_t>(bits))
                                     : static_cast<double>(bits);
            encode(dtype, value, data + i * size);
          }
        }
      });
}

}  // namespace

Extremes extremes_of(const Generator& generator, Dtype dtype) {
  if (generator.distribution == Distribution::kConstant) return {generator.first, generator.first};
  return Values(generator, dtype).extremes(bits_of(dtype));
}

std::vector<std::byte> generate(const Generator& generator, Dtype dtype, std::size_t count,
                                const Draw& draw) {
  if (generator.distribution == Distribution::kConstant) {
    const std::size_t size = size_of(dtype);
    std::vector<std::byte> data(count * size);
    for (std::size_t i = 0; i < count; ++i) encode(dtype, generator.first, data.data() + i * size);
    return data;
  }
  std::vector<std::byte> data;
  if (generator.distribution == Distribution::kIntegers) {
    data = from_integers(generator.integers, dtype, count, draw.seed);
  } else {
    const Values values(generator, dtype);
    data = size_of(dtype) <= 2 ? from_quantiles(values, dtype, count, draw.seed)
                               : from_places(values, dtype, count, draw.seed);
  }
  put_special_values(data, generator, dtype, draw);
  return data;
}

}  // namespace evo
