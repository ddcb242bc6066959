#pragma once

#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

namespace evo::ptx {

/// What one access asks of the memory unit, for the predicted time: wavefronts of shared memory
/// with their bank conflicts, sectors and lines of global memory. Held to Nsight Compute's counts
/// of attention, matrix product and stencil kernels on an H200.
void count_access(Warp& warp, const LaneAccess& access, std::uint32_t bytes, bool is_write);

/// How often an atomic comes to each address of global memory. `is_merged`: an operation that the
/// compiler makes once for all lanes of a warp that come to one address.
void count_atomic(Warp& warp, const LaneAccess& access, bool is_merged);

/// The wavefronts in which a cp.async of 16 bytes a lane, which L1 does not keep, reaches shared
/// memory.
void count_copy(Warp& warp, const LaneAccess& source, const LaneAccess& destination);

}  // namespace evo::ptx
