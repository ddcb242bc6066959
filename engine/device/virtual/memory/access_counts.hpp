#pragma once

#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

namespace evo::ptx {

/// Counts the cost of one access in the memory unit, for the predicted time: wavefronts of shared
/// memory, which include bank conflicts, and sectors and lines of global memory. The rules were
/// chosen so that the counts agree with those of Nsight Compute for attention, matrix product and
/// stencil kernels on an H200.
void count_access(Warp& warp, const LaneAccess& access, std::uint32_t bytes, bool is_write);

/// Counts how often an atomic instruction accesses each address of global memory, for at most 2^16
/// addresses of a CTA. `is_merged`: whether the compiler combines the operations of a warp into one
/// if all lanes have the same address.
void count_atomic(Warp& warp, const LaneAccess& access, bool is_merged);

/// Counts the wavefronts with which a cp.async of 16 bytes per lane writes shared memory; such a
/// cp.async bypasses L1.
void count_copy(Warp& warp, const LaneAccess& source, const LaneAccess& destination);

}  // namespace evo::ptx
