#pragma once

#include <string>

#include "engine/intake/draft.hpp"

namespace evo {

/// The text of a reference.py that reads every input of the problem by name. The program raises
/// NotImplementedError until the user completes the line that is marked for each output.
[[nodiscard]] std::string reference_stub(const Draft& draft);

}  // namespace evo
