#include "engine/problem/generator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <thread>

#include "engine/core/random.hpp"

namespace evo {
namespace {

constexpr std::size_t kQuantiles = 1U << 16;
constexpr double kAcklamLow = 0.02425;  // below it the tail formula holds
constexpr std::array<double, 6> kA = {-3.969683028665376e+01, 2.209460984245205e+02,
                                      -2.759285104469687e+02, 1.383577518672690e+02,
                                      -3.066479806614716e+01, 2.506628277459239e+00};
constexpr std::array<double, 5> kB = {-5.447609879822406e+01, 1.615858368580409e+02,
                                      -1.556989798598866e+02, 6.680131188771972e+01,
                                      -1.328068155288572e+01};
constexpr std::array<double, 6> kC = {-7.784894002430293e-03, -3.223964580411365e-01,
                                      -2.400758277161838e+00, -2.549732539343734e+00,
                                      4.374664141464968e+00,  2.938163982698783e+00};
constexpr std::array<double, 4> kD = {7.784695709041462e-03, 3.224671290700398e-01,
                                      2.445134137142996e+00, 3.754408661907416e+00};

template <std::size_t N>
double horner(const std::array<double, N>& coefficients, double x) {
  double value = 0;
  for (const double coefficient : coefficients) value = value * x + coefficient;
  return value;
}

double acklam(double p) {
  if (p < kAcklamLow) {
    const double q = std::sqrt(-2 * std::log(p));
    return horner(kC, q) / (horner(kD, q) * q + 1);
  }
  if (p > 1 - kAcklamLow) return -acklam(1 - p);
  const double q = p - 0.5;
  const double r = q * q;
  return horner(kA, r) * q / (horner(kB, r) * r + 1);
}

/// The standard normal distribution's 2^16 quantiles.
std::vector<double> normal_quantiles() {
  std::vector<double> table(kQuantiles);
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    table[i] = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(kQuantiles));
  }
  return table;
}

double quantile_value(const Generator& generator, std::size_t index) {
  static const std::vector<double> standard_normal = normal_quantiles();
  if (generator.distribution == Distribution::kNormal) {
    return generator.first + generator.second * standard_normal[index];
  }
  const double p = (static_cast<double>(index) + 0.5) / static_cast<double>(kQuantiles);
  return generator.first + (generator.second - generator.first) * p;
}

/// Every quantile encoded once.
std::vector<std::byte> quantile_table(const Generator& generator, Dtype dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> table(kQuantiles * size);
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    encode(dtype, quantile_value(generator, i), table.data() + i * size);
  }
  return table;
}

/// Fills elements [first, first + count) of `data` from a part's own random numbers.
using FillPart =
    std::function<void(std::byte* data, std::size_t first, std::size_t count, Random& random)>;

/// Large data are made in parts, by as many threads as there are processors: each part has random
/// numbers of its own, so that the data do not depend on the number of threads.
std::vector<std::byte> in_parts(std::size_t count, std::size_t size, std::uint64_t seed,
                                const FillPart& fill) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::vector<std::byte> data(count * size);
  const std::size_t parts = (count + kPart - 1) / kPart;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t part = next++; part < parts; part = next++) {
      Random random(part == 0 ? seed : mix_seed(seed, part));
      const std::size_t first = part * kPart;
      fill(data.data(), first, std::min(kPart, count - first), random);
    }
  };
  const std::size_t threads = std::min<std::size_t>(parts, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return data;
}

std::vector<std::byte> from_quantiles(const Generator& generator, Dtype dtype, std::size_t count,
                                      std::uint64_t seed) {
  const bool use_table = count > kQuantiles;  // else encoding each element is less work
  const auto table = use_table ? quantile_table(generator, dtype) : std::vector<std::byte>();
  const std::size_t size = size_of(dtype);
  return in_parts(count, size, seed,
                  [&](std::byte* data, std::size_t first, std::size_t part, Random& random) {
                    std::uint64_t bits = 0;
                    for (std::size_t i = 0; i < part; ++i) {
                      if (i % 4 == 0) bits = random.bits();
                      const std::size_t index = bits & (kQuantiles - 1);
                      std::byte* target = data + (first + i) * size;
                      if (use_table) {
                        std::memcpy(target, table.data() + index * size, size);
                      } else {
                        encode(dtype, quantile_value(generator, index), target);
                      }
                      bits >>= 16;
                    }
                  });
}

std::vector<std::byte> from_integers(const IntegerRange& range, Dtype dtype, std::size_t count,
                                     std::uint64_t seed) {
  const std::size_t size = size_of(dtype);
  const bool is_wide = dtype == Dtype::kI64 || dtype == Dtype::kU64;
  const std::uint64_t values = range.high - range.low + 1;  // 0: all of 64 bits
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

double normal_quantile(double p) {
  const double x = acklam(p);
  const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
  const double step = error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x - step / (1 + x * step / 2);
}

Extremes extremes_of(const Generator& generator) {
  if (generator.distribution == Distribution::kConstant) return {generator.first, generator.first};
  return {quantile_value(generator, 0), quantile_value(generator, kQuantiles - 1)};
}

std::vector<std::byte> generate(const Generator& generator, Dtype dtype, std::size_t count,
                                std::uint64_t seed) {
  if (generator.distribution == Distribution::kIntegers) {
    return from_integers(generator.integers, dtype, count, seed);
  }
  if (generator.distribution != Distribution::kConstant) {
    return from_quantiles(generator, dtype, count, seed);
  }
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> data(count * size);
  for (std::size_t i = 0; i < count; ++i) encode(dtype, generator.first, data.data() + i * size);
  return data;
}

}  // namespace evo
