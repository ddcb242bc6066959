#pragma once

#include <cstdint>

#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Propagates taint, the marks of uninitialised data, from the sources of `in` to its destinations
/// before `in` executes. Called only for warps whose registers hold uninitialised data.
void propagate_taint(Warp& warp, const Instr& in);

/// Records that the warp received uninitialised data, and their origin: memory or an inactive lane.
void take_foreign_taint(Warp& warp, const UnknownData& from = {});

/// Reports a guard that depends on uninitialised data, even if the guard enables no lane. Reports
/// nothing if all uninitialised data of the warp are registers that were never set, because a
/// thread without data may compute with variables that it never loaded, as long as no result
/// reaches memory.
void check_guard_taint(Warp& warp, const Instr& in);

/// Clears Warp::tainted if no register holds uninitialised data any more.
void drop_stale_taint(Warp& warp);

/// The lanes of `mask` in which the register of `bytes` bytes is tainted.
[[nodiscard]] std::uint32_t tainted_lanes(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                          std::uint32_t mask);

/// Sets the taint of one lane of a register of up to 4, of 8 or of 16 bytes; bit b is for byte b.
void set_taint(Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane, std::uint32_t taint);
[[nodiscard]] std::uint32_t get_taint(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                      int lane);

/// Reports that an instruction uses uninitialised data for `purpose`, once for each instruction.
void report_tainted_use(Warp& warp, std::uint32_t lanes, const char* purpose);

}  // namespace evo::ptx
