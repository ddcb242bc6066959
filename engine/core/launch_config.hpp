#pragma once

#include <array>
#include <cstdint>

namespace evo {

/// Grid and block in CTAs and threads, and what a CTA gets beside its static shared memory.
struct LaunchConfig {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
};

}  // namespace evo
