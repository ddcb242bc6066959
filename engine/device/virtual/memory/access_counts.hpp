#pragma once

#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

namespace evo::ptx {

/// Counts the cost of one access in the memory unit, for the predicted time: wavefronts of shared
/// memory including bank conflicts, and sectors and lines of global memory. The counts were
/// verified against Nsight Compute's for attention, matrix product and stencil kernels on an H200.
void count_access(Warp& warp, const LaneAccess& access, std::uint32_t bytes, bool is_write);

/// Counts the accesses of an atomic to each address of global memory. `is_merged`: the compiler
/// combines the operations of all lanes of a warp with the same address.
void count_atomic(Warp& warp, const LaneAccess& access, bool is_merged);

/// Counts the wavefronts in shared memory of a cp.async of 16 bytes per lane, which bypasses L1.
void count_copy(Warp& warp, const LaneAccess& source, const LaneAccess& destination);

}  // namespace evo::ptx
