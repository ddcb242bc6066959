#pragma once

#include <cstdint>
#include <optional>

#include "engine/gate/cases.hpp"

namespace evo {

/// A part of a launch that may stand for the whole, on a device that runs parts.
struct GridPart {
  static constexpr std::uint64_t kFewestCtas = 8;

  std::uint64_t ctas = 0;     ///< of the whole grid
  std::uint64_t of_work = 0;  ///< so many of them are about the work asked for
};

/// The part of a kernel's grid that is about `flops` operations. Nothing where no part stands for
/// the whole: the template does not say that CTAs are independent, the kernel claims work, or it is
/// launched in several steps.
[[nodiscard]] std::optional<GridPart> grid_part(Device& device, const Problem& problem,
                                                const LoadedKernel& kernel, const CheckCase& data,
                                                double flops);

}  // namespace evo
