#pragma once

namespace evo {

/// The exponential function, computed with IEEE additions, multiplications, divisions and exact
/// operations (floor, ldexp) only. The result has the same bits on every machine, unlike those of
/// mathematical libraries, so that a search can be repeated anywhere. The relative error is below
/// 1e-12 for |x| <= 700. The result is 0 for x < -700, and e^700 for x > 700.
[[nodiscard]] double portable_exp(double x);

/// The natural logarithm of x > 0, as accurate and reproducible as portable_exp().
[[nodiscard]] double portable_log(double x);

}  // namespace evo
