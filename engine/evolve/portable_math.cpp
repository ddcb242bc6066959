#include "engine/evolve/portable_math.hpp"

#include <cmath>

namespace evo {
namespace {

constexpr double kLn2 = 0.693147180559945309417232121458;
constexpr double kUnderflow = -700;
constexpr double kOverflow = 700;

}  // namespace

double portable_exp(double x) {
  if (x < kUnderflow) return 0;
  if (x > kOverflow) x = kOverflow;
  // e^x = 2^n e^r with |r| <= ln 2 / 2. The Taylor series to r^13 / 13! has an error below 1e-17.
  const double n = std::floor(x / kLn2 + 0.5);
  const double r = x - n * kLn2;
  double sum = 1;
  for (int k = 13; k >= 1; --k) sum = 1 + sum * r / k;
  return std::ldexp(sum, static_cast<int>(n));
}

double portable_log(double x) {
  // ln x = n ln 2 + 2 artanh((m - 1) / (m + 1)) with m in [0.7, 1.4].
  int n = 0;
  double m = std::frexp(x, &n);
  if (m < 0.70710678) {
    m *= 2;
    --n;
  }
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return n * kLn2 + 2 * z * sum;
}

}  // namespace evo
