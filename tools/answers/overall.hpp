#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/answers/elite_answers.hpp"

namespace evo {

/// "small=2" → {"small", 2}. Throws InputError for anything but a name and a number above 0.
[[nodiscard]] std::map<std::string, double> parse_weights(const std::vector<std::string>& texts);

/// The kernels that serve all shapes of one search best: the geometric mean, with weights (1 where
/// none is given), of best time known / this kernel's time over the shapes. `run`: any of the
/// search's. Throws InputError for a run over one shape, or a weight for a shape that it has not.
[[nodiscard]] Answer overall_answer(const Store& store, RunId run,
                                    const std::map<std::string, double>& weights);

}  // namespace evo
