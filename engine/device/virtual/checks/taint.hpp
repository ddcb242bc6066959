#pragma once

#include <cstdint>

#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Carries "never written" marks from the sources of `in` to its destinations, before it executes.
/// Only called for warps that hold such data.
void propagate_taint(Warp& warp, const Instr& in);

/// Notes that such data came from memory, or from a lane that takes no part, and whence.
void take_foreign_taint(Warp& warp, const UnknownData& from = {});

/// Reports a guard that depends on such data, also when it enables no lane. In a warp that only
/// knows unset registers of its own it reports nothing: a thread beyond the end of its data may
/// compute with variables that it never loaded, as long as nothing of it reaches memory.
void check_guard_taint(Warp& warp, const Instr& in);

/// Clears Warp::tainted when no register holds such data any more.
void drop_stale_taint(Warp& warp);

/// Whether the value of any lane in `mask` of the register of `bytes` bytes is tainted; one bit a
/// lane.
[[nodiscard]] std::uint32_t tainted_lanes(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                          std::uint32_t mask);

/// Sets the taint of one lane of a register of 4 or fewer, 8 or 16 bytes; bit b is byte b.
void set_taint(Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane, std::uint32_t taint);
[[nodiscard]] std::uint32_t get_taint(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                      int lane);

/// Reports, once an instruction, that uninitialised data are used for `purpose`.
void report_tainted_use(Warp& warp, std::uint32_t lanes, const char* purpose);

}  // namespace evo::ptx
