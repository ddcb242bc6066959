#pragma once

namespace evo {

/// Exponential and natural logarithm computed with IEEE additions, multiplications and divisions
/// only, so that every machine gives the same bits. (Mathematical libraries differ in the last bit,
/// and a search must not depend on that.) Relative error below 1e-12.
[[nodiscard]] double portable_exp(double x);

/// `x` > 0.
[[nodiscard]] double portable_log(double x);

}  // namespace evo
