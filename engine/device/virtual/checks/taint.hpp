#pragma once

#include <cstdint>

#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Propagates the marks of uninitialised data, called taint, from the sources of `in` to its
/// destinations before it executes. Called only for warps that hold such data.
void propagate_taint(Warp& warp, const Instr& in);

/// Records that uninitialised data came from memory, or from an inactive lane, and the origin.
void take_foreign_taint(Warp& warp, const UnknownData& from = {});

/// Reports a guard that depends on uninitialised data, even if it enables no lane. Reports nothing
/// if the warp has only unset registers of its own: a thread beyond the end of its data may compute
/// with variables that it never loaded, as long as no result reaches memory.
void check_guard_taint(Warp& warp, const Instr& in);

/// Clears Warp::tainted if no register holds uninitialised data any more.
void drop_stale_taint(Warp& warp);

/// Whether the register of `bytes` bytes is tainted, one bit per lane in `mask`.
[[nodiscard]] std::uint32_t tainted_lanes(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                          std::uint32_t mask);

/// Sets the taint of one lane of a register of 4 or fewer, 8 or 16 bytes; bit b is byte b.
void set_taint(Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane, std::uint32_t taint);
[[nodiscard]] std::uint32_t get_taint(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                      int lane);

/// Reports, once per instruction, that uninitialised data are used for `purpose`.
void report_tainted_use(Warp& warp, std::uint32_t lanes, const char* purpose);

}  // namespace evo::ptx
