#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace evo {

/// A common property of small sizes.
enum class SizeKind {
  kRagged,  ///< prime numbers
  kRound,   ///< multiples of 128, 64 or 32
  kPower,   ///< powers of two
};
inline constexpr std::array kSizeKinds = {SizeKind::kRagged, SizeKind::kRound, SizeKind::kPower};

/// "multiples of 128", for users.
[[nodiscard]] std::string to_text(SizeKind kind);

inline constexpr std::size_t kProbes = 4;

/// Shape variables and their intended values.
using SizeTexts = std::vector<std::pair<std::string, std::string>>;

/// Small values for the variables, different for each `probe`, so that two products of them are
/// unlikely to agree in all probes. A variable intended to be small, up to 64, stays at or below
/// its intended value.
[[nodiscard]] std::map<std::string, double> probe_sizes(SizeKind kind, const SizeTexts& variables,
                                                        std::size_t probe);

inline constexpr std::size_t kProofs = 2;

/// Larger values, beyond the threads of a CTA if `scale` is 1; an expression that fits the small
/// values must hold for them, too. `scale` divides them if running so much takes too long.
[[nodiscard]] std::map<std::string, double> proof_sizes(SizeKind kind, const SizeTexts& variables,
                                                        std::size_t proof, std::int64_t scale);

/// A small shape that is checked beside the timed one: values in the order of the variables; values
/// up to 64 stay. Empty if no variable is larger.
[[nodiscard]] std::vector<std::string> small_shape(SizeKind kind, const SizeTexts& variables);

}  // namespace evo
