#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace evo {

/// A function that receives the next part of some data.
using TakePart = std::function<void(std::span<const std::byte>)>;

/// A function that passes all parts of some data, in order, to another function. Host memory thus
/// holds only one part of a large file at a time.
using ContentParts = std::function<void(const TakePart&)>;

}  // namespace evo
