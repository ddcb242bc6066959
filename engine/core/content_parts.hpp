#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace evo {

/// Takes the next part of a content.
using TakePart = std::function<void(std::span<const std::byte>)>;

/// Passes a content, in parts and in order, to a function. Large data of files thus need no copy of
/// the whole content on the host.
using ContentParts = std::function<void(const TakePart&)>;

}  // namespace evo
