#pragma once

#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

namespace evo::ptx {

/// The CTA of the cluster to which an address in .shared::cluster belongs. Reports a hazard and
/// returns null if there is no such CTA, if the CTA has exited, or if the accessed bytes reach
/// beyond its shared memory. `verb`: names the access in the report.
[[nodiscard]] Cta* owner_of(Warp& warp, int lane, std::uint64_t address, std::uint64_t bytes,
                            const char* verb);

/// Like resolve(), for addresses in .shared::cluster, but does not set LaneAccess::pattern. Returns
/// false if a hazard was reported.
[[nodiscard]] bool resolve_in_cluster(Warp& warp, LaneAccess& access, std::uint32_t mask,
                                      std::uint32_t bytes, const char* verb);

/// A mask of the uninitialised bytes at an address in the shared memory of another CTA.
[[nodiscard]] std::uint32_t remote_taint(const Warp& warp, std::uint64_t address,
                                         std::uint32_t bytes);

}  // namespace evo::ptx
