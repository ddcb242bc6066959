#pragma once

#include <optional>
#include <string>

#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

/// The comparison of one kernel's outputs with the recorded outputs.
struct CaseComparison {
  std::size_t elements = 0;
  std::size_t identical = 0;  ///< bit for bit
  std::size_t outside = 0;    ///< within their bound
  double worst_share = 0;     ///< largest difference relative to its bound
  std::string first = {};     ///< the first element outside of its bound, for messages
};

/// Compares every element with its column's bound. With an inexact bound, NaN matches NaN and
/// infinities match themselves. Throws InputError if the outputs have other sizes.
[[nodiscard]] CaseComparison compare_case(const AgreementCase& data, const Outputs& recorded,
                                          const Outputs& got);

/// The comparison of the outputs of one candidate's launch with the recorded outputs.
struct RunComparison {
  std::size_t elements = 0;
  std::size_t identical = 0;
  double max_over_rms = 0;  ///< largest difference / rms of the recorded output, worst output
  double relative_l2 = 0;   ///< ‖got − recorded‖ / ‖recorded‖, worst output
  double worst_steps = 0;   ///< largest difference in units of the last place of the recorded value
};

/// Differences over all outputs. If an element is finite on only one side, the figures are
/// infinite.
[[nodiscard]] RunComparison compare_run(const AgreementCase& data, const Outputs& recorded,
                                        const Outputs& got);

}  // namespace evo::agreement
