#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace evo {

/// What small sizes have in common.
enum class SizeKind {
  kRagged,  ///< prime numbers: multiples of nothing
  kRound,   ///< multiples of 128, 64 or 32
  kPower,   ///< powers of two
};
inline constexpr std::array kSizeKinds = {SizeKind::kRagged, SizeKind::kRound, SizeKind::kPower};

/// "multiples of 128": for people.
[[nodiscard]] std::string to_text(SizeKind kind);

inline constexpr std::size_t kProbes = 4;

/// Shape variables and the values they are to have.
using SizeTexts = std::vector<std::pair<std::string, std::string>>;

/// Small values for the variables, others for each `probe`, so that two products of them hardly
/// agree in all. A variable that is meant to be small, up to 64, stays below about its value.
[[nodiscard]] std::map<std::string, double> probe_sizes(SizeKind kind, const SizeTexts& variables,
                                                        std::size_t probe);

inline constexpr std::size_t kProofs = 2;

/// Larger values, beyond the threads of a CTA where `scale` is 1: what fits the small ones must
/// hold for them too. `scale` divides them, where running so much takes long.
[[nodiscard]] std::map<std::string, double> proof_sizes(SizeKind kind, const SizeTexts& variables,
                                                        std::size_t proof, std::int64_t scale);

/// A small shape to check beside the one that is timed: values in the order of the variables; those
/// up to 64 stay. Empty where no variable is larger.
[[nodiscard]] std::vector<std::string> small_shape(SizeKind kind, const SizeTexts& variables);

}  // namespace evo
