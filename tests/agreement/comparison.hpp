#pragma once

#include <string>

#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

/// The result of comparing the outputs of a test kernel with the recorded outputs.
struct CaseComparison {
  std::size_t elements = 0;
  std::size_t identical = 0;  ///< bit for bit
  std::size_t outside = 0;    ///< not within their bound
  double worst_share = 0;     ///< largest difference relative to its bound
  std::string first = {};     ///< the first element outside of its bound, for messages
};

/// Compares each output element with the recorded element by the bound of its column. If the bound
/// is not exact, NaN equals any NaN, and an infinity equals only itself. Throws InputError if
/// `recorded` or `got` lacks an output, or has an output of another size than its argument.
[[nodiscard]] CaseComparison compare_case(const AgreementCase& data, const Outputs& recorded,
                                          const Outputs& got);

/// The result of comparing the outputs of a candidate's launch with the recorded outputs.
struct RunComparison {
  std::size_t elements = 0;
  std::size_t identical = 0;
  double max_over_rms = 0;  ///< largest difference / rms of the recorded output, worst output
  double relative_l2 = 0;   ///< ‖got − recorded‖ / ‖recorded‖, worst output
  double worst_steps = 0;   ///< largest difference in units of the last place of the recorded value
};

/// Compares all outputs of a launch. If an element is NaN, or an infinity in only one of `recorded`
/// and `got`, max_over_rms and relative_l2 are infinite. Throws InputError like compare_case().
[[nodiscard]] RunComparison compare_run(const AgreementCase& data, const Outputs& recorded,
                                        const Outputs& got);

}  // namespace evo::agreement
