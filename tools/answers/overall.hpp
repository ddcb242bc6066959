#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/answers/elite_answers.hpp"

namespace evo {

/// Converts "small=2" to {"small", 2}. Throws InputError unless each text is a name and a number
/// above 0.
[[nodiscard]] std::map<std::string, double> parse_weights(const std::vector<std::string>& texts);

/// The best kernels (at most ten) that are green on all shapes of one search, by the weighted
/// geometric mean (default weight 1) of best known time on a shape / this kernel's time. `run`: any
/// run of the search. Throws InputError if the search has only one shape, and for a weight of an
/// unknown shape.
[[nodiscard]] Answer overall_answer(const Store& store, RunId run,
                                    const std::map<std::string, double>& weights);

}  // namespace evo
