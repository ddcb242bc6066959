#pragma once

#include <string>

#include "engine/intake/draft.hpp"

namespace evo {

/// The text of a reference.py that reads every input of the problem by its name and stops with
/// NotImplementedError until its marked lines, one for each output, compute something.
[[nodiscard]] std::string reference_stub(const Draft& draft);

}  // namespace evo
