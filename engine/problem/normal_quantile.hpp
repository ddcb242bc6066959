#pragma once

namespace evo {

/// Inverse of the standard normal distribution function, 0 < p < 1, to about 1e-15 (relative): M.
/// J. Wichura's rational functions (algorithm AS 241, PPND16). Uses only exact operations and
/// operations that IEEE 754 rounds correctly, so the result is the same on every machine.
[[nodiscard]] double normal_quantile(double p);

}  // namespace evo
