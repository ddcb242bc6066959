#pragma once

#include <optional>
#include <string>

#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

/// How one kernel's outputs compare with the recorded ones.
struct CaseComparison {
  std::size_t elements = 0;
  std::size_t identical = 0;  ///< bit for bit
  std::size_t outside = 0;    ///< of their bound
  double worst_share = 0;     ///< largest difference as a share of its bound
  std::string first = {};     ///< the first element outside, for people
};

/// Holds every element to its column's bound. Where a bound is not exact, NaN agrees with NaN and
/// infinities agree with themselves. Throws InputError when the outputs have other sizes.
[[nodiscard]] CaseComparison compare_case(const AgreementCase& data, const Outputs& recorded,
                                          const Outputs& got);

/// How the outputs of one launch of a candidate compare with the recorded ones.
struct RunComparison {
  std::size_t elements = 0;
  std::size_t identical = 0;
  double max_over_rms = 0;  ///< largest difference / rms of the recorded output, worst output
  double relative_l2 = 0;   ///< ‖got − recorded‖ / ‖recorded‖, worst output
  double worst_steps = 0;   ///< largest difference in units of the last place of the recorded value
};

/// Differences of all outputs; one that is not finite on one side only makes the figures infinite.
[[nodiscard]] RunComparison compare_run(const AgreementCase& data, const Outputs& recorded,
                                        const Outputs& got);

}  // namespace evo::agreement
