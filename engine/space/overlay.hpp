#pragma once

#include "engine/core/json_reader.hpp"

namespace evo {

/// The space file `overlay` laid over `base`, both unread JSON objects. Keys of the overlay replace
/// those of the base; "resources" and "let" key by key; "parameters" by macro, "milestones" by name
/// and "constraints" by name, in their places, with what is new behind them.
[[nodiscard]] Json laid_over(const Json& overlay, Json base);

}  // namespace evo
