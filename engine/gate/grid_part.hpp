#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/gate/cases.hpp"
#include "engine/gate/workspace.hpp"

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

/// CTAs (linear indices) that a kernel takes for the first one when it loses a part of its index: a
/// dimension, high bits, or a factor.
[[nodiscard]] std::vector<std::uint64_t> twins_of_first(const LaunchConfig& config);

/// `drawn` with about half of it replaced by twins, so that CTAs that do one another's work meet.
/// `drawn` holds different CTAs, and so does the result, sorted. Those `kept` stay.
[[nodiscard]] std::vector<std::uint64_t> with_twins(const std::vector<std::uint64_t>& drawn,
                                                    std::vector<std::uint64_t> twins,
                                                    const std::vector<std::uint64_t>& kept,
                                                    Random& random);

/// What a kernel keeps: the content of its workspaces and variables. Where a part of a grid leaves
/// them different, its CTAs may tell one another what they did, and no part stands for the whole.
[[nodiscard]] std::string state_of_part(const Device& device, const LoadedKernel& kernel,
                                        const Workspace& workspace);

}  // namespace evo
