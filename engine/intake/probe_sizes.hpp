#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace evo {

/// The numbers from which the small sizes of trial launches are chosen, for variables above 64 in
/// the timed shape. For kRound and kPower, a smaller variable gets its value in the timed shape,
/// halved repeatedly.
enum class SizeKind {
  kRagged,  ///< prime numbers, and some doubled prime numbers
  kRound,   ///< multiples of 128, 64 or 32
  kPower,   ///< powers of two
};
inline constexpr std::array kSizeKinds = {SizeKind::kRagged, SizeKind::kRound, SizeKind::kPower};

/// A clause for messages, to follow the word "sizes": "that are prime numbers".
[[nodiscard]] std::string to_text(SizeKind kind);

inline constexpr std::size_t kProbes = 4;

/// Shape variables and their values in the timed shape.
using SizeTexts = std::vector<std::pair<std::string, std::string>>;

/// Small values of the shape variables for trial launch `probe`, usually different for each
/// `probe`, so that two products of variables are unlikely to be equal for every `probe`. If a
/// variable is at most 64 in the timed shape, its small values do not exceed its value in this
/// shape (or 3, if the value is less).
[[nodiscard]] std::map<std::string, double> probe_sizes(SizeKind kind, const SizeTexts& variables,
                                                        std::size_t probe);

inline constexpr std::size_t kProofs = 2;

/// Values of the shape variables for testing an expression that fits the small values. Variables
/// above 64 in the timed shape usually get larger values than from probe_sizes(), the others small
/// values again. With a `scale` of 1, the largest value usually exceeds the number of threads of a
/// CTA; a larger `scale` divides the values of variables above 64, so that runs take less time.
[[nodiscard]] std::map<std::string, double> proof_sizes(SizeKind kind, const SizeTexts& variables,
                                                        std::size_t proof, std::int64_t scale);

/// The values, in the order of the variables, of a small shape that is checked in addition to the
/// timed shape. A variable up to 64 keeps its value from the timed shape. Empty if no variable is
/// above 64.
[[nodiscard]] std::vector<std::string> small_shape(SizeKind kind, const SizeTexts& variables);

}  // namespace evo
