#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace evo {

/// The project's random generator. Unlike with the random distributions of the standard library,
/// the same seed gives the same numbers on every machine and with every compiler, except that the
/// last bits of normal() depend on the C library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Returns 64 random bits.
  std::uint64_t bits() { return engine_(); }

  /// A uniform integer in [0, bound), without modulo bias. `bound` > 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    std::uint64_t value = engine_();
    while (value < threshold) value = engine_();
    return value % bound;
  }

  /// A uniform number in [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  /// A number from the standard normal distribution (Box–Muller, by log() and cos() of the C
  /// library).
  double normal();

  /// A generator of an independent stream, determined by the state of this generator.
  Random split() { return Random(bits() ^ 0x9e3779b97f4a7c15ULL); }

 private:
  std::mt19937_64 engine_;
};

/// Mixes two values into a seed (splitmix64's finaliser), so that derived seeds are unrelated.
[[nodiscard]] std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b);

/// A seed derived from a name (FNV-1a).
[[nodiscard]] std::uint64_t name_seed(std::string_view name);

}  // namespace evo
