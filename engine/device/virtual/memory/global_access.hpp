#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/memory/memory_access.hpp"

// What accesses to global memory tell GlobalRaces. Nothing where the launch is not checked.

namespace evo::ptx {

/// A plain read of the global lanes.
void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// A load by the path for read-only data (ld.global.nc, __ldg) of the global lanes: a hazard where
/// any CTA, also this one, wrote in this launch, since that path may give what was there before
/// (PTX ISA, "ld.global.nc"). Only memory that is watched for races between CTAs is looked at.
void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// Leaves with GlobalRaces the plain reads of what other CTAs change by atomics to which no atomic
/// of this CTA came: at its end.
void suspect_plain_reads(Cta& cta);

/// A plain write, before it is done. `values`: the new bytes of each lane, `bytes` apart.
void note_global_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                       const std::byte* values);
/// The same, after it was done.
void note_global_written(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// A strong store or an atomic, before it is done; `accumulates`: it adds to what is there.
void note_global_change(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                        bool accumulates);

/// A strong read or an atomic, after it was done: it may have seen what others published.
void note_global_seen(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// A fence, or before a release: what the CTA did is published.
void note_published(const Warp& warp);

/// In a launch that only notes who stores where: notes the global lanes. Whether that was all.
[[nodiscard]] bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// In such a launch: ends it when a load reads what may hold something else when the kernel runs.
void require_still(Warp& warp, const LaneAccess& access);

}  // namespace evo::ptx
