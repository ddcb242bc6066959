#pragma once

#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

namespace evo::ptx {

/// The cost of one access in the memory unit, for the predicted time: wavefronts of shared memory
/// with bank conflicts, and sectors and lines of global memory. Verified against Nsight Compute's
/// counts for attention, matrix product and stencil kernels on an H200.
void count_access(Warp& warp, const LaneAccess& access, std::uint32_t bytes, bool is_write);

/// How often an atomic accesses each address of global memory. `is_merged`: the compiler combines
/// the operation for all lanes of a warp with the same address.
void count_atomic(Warp& warp, const LaneAccess& access, bool is_merged);

/// The wavefronts in shared memory of a cp.async of 16 bytes per lane, which bypasses L1.
void count_copy(Warp& warp, const LaneAccess& source, const LaneAccess& destination);

}  // namespace evo::ptx
