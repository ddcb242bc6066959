#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/virtual/program.hpp"

namespace evo::ptx {

/// Instructions that may follow instruction `pc`.
[[nodiscard]] std::vector<std::uint32_t> successors(const Program& program, std::size_t pc);

}  // namespace evo::ptx
