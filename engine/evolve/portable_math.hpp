#pragma once

namespace evo {

/// Exponential function, computed with IEEE additions, multiplications and divisions only. Every
/// machine gives the same bits, which a search needs and mathematical libraries do not guarantee.
/// Relative error below 1e-12.
[[nodiscard]] double portable_exp(double x);

/// Natural logarithm, as accurate and reproducible as portable_exp(). `x` > 0.
[[nodiscard]] double portable_log(double x);

}  // namespace evo
