#pragma once

#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

namespace evo::ptx {

/// The CTA of the cluster to which an address in .shared::cluster belongs. If there is no such CTA,
/// or if the CTA has too little shared memory, reports a hazard and returns null. `verb`: the kind
/// of access.
[[nodiscard]] Cta* owner_of(Warp& warp, int lane, std::uint64_t address, std::uint64_t bytes,
                            const char* verb);

/// Finds the memory for addresses of the cluster's shared memory, as resolve() does. The pattern of
/// the lanes stays unknown. Returns false if a hazard was reported.
[[nodiscard]] bool resolve_in_cluster(Warp& warp, LaneAccess& access, std::uint32_t mask,
                                      std::uint32_t bytes, const char* verb);

/// A mask of the uninitialised bytes at an address in the shared memory of another CTA.
[[nodiscard]] std::uint32_t remote_taint(const Warp& warp, std::uint64_t address,
                                         std::uint32_t bytes);

}  // namespace evo::ptx
