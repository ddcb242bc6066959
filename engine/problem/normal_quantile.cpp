#include "engine/problem/normal_quantile.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace evo {
namespace {

/// Coefficients of a polynomial, highest power last.
using Polynomial = std::array<double, 8>;

struct Rational {
  Polynomial numerator;
  Polynomial denominator;
};

/// Coefficients for |p − 0.5| ≤ 0.425.
constexpr Rational kCentre = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
/// Coefficients for √(−ln p) ≤ 5, where p is the smaller of p and 1 − p.
constexpr Rational kTail = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
constexpr Rational kFarTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

double at(const Polynomial& polynomial, double x) {
  double value = 0;
  for (std::size_t i = polynomial.size(); i-- > 0;) value = value * x + polynomial[i];
  return value;
}

double at(const Rational& rational, double x) {
  return at(rational.numerator, x) / at(rational.denominator, x);
}

/// Computes the natural logarithm without std::log(), because its results differ between standard
/// libraries.
double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.5 * std::numbers::sqrt2) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // ln m = 2 (s + s³/3 + s⁵/5 + …), |s| < 0.172
  constexpr int kTerms = 13;
  double sum = 0;
  for (int k = kTerms; k-- > 0;) sum = sum * s * s + 1.0 / (2 * k + 1);
  return 2 * s * sum + exponent * std::numbers::ln2;
}

}  // namespace

double normal_quantile(double p) {
  constexpr double kMostOfCentre = 0.425;
  constexpr double kMostOfTail = 5;
  constexpr double kTailStart = 1.6;
  const double q = p - 0.5;
  if (std::fabs(q) <= kMostOfCentre) {
    return q * at(kCentre, kMostOfCentre * kMostOfCentre - q * q);
  }
  const double r = std::sqrt(-logarithm(q < 0 ? p : 1 - p));
  const double x = r <= kMostOfTail ? at(kTail, r - kTailStart) : at(kFarTail, r - kMostOfTail);
  return q < 0 ? -x : x;
}

}  // namespace evo
