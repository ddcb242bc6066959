#pragma once

namespace evo {

/// Exponential and natural logarithm made of IEEE additions, multiplications and divisions only, so
/// that every machine gives the same bits (mathematical libraries differ in the last one, and a
/// search must not branch on that). Relative error below 1e-12.
[[nodiscard]] double portable_exp(double x);

/// `x` > 0.
[[nodiscard]] double portable_log(double x);

}  // namespace evo
