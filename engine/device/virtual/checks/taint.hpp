#pragma once

#include <cstdint>

#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Propagates taint (the marks of uninitialised data) from the source registers of `in` to its
/// destination registers, before `in` executes. Needs to be called only for warps whose registers
/// hold uninitialised data.
void propagate_taint(Warp& warp, const Instr& in);

/// Records that the warp received uninitialised data from memory or from an inactive lane; `from`
/// is their origin.
void take_foreign_taint(Warp& warp, const UnknownData& from = {});

/// Reports a hazard if the guard of `in` depends on uninitialised data, even if the guard enables
/// no lane. Reports nothing if all uninitialised data of the warp are in registers that were never
/// set, because a thread that has no data to process may compute with variables that it never
/// loaded, as long as no result reaches memory.
void check_guard_taint(Warp& warp, const Instr& in);

/// Clears Warp::tainted if no register holds uninitialised data any more.
void drop_stale_taint(Warp& warp);

/// The lanes among `mask` in which the register `reg`, which has `bytes` bytes, is tainted.
[[nodiscard]] std::uint32_t tainted_lanes(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                          std::uint32_t mask);

/// Sets the taint of a register of `bytes` bytes in one lane. Bit b of `taint` is for byte b of the
/// register.
void set_taint(Warp& warp, std::uint32_t reg, std::uint32_t bytes, int lane, std::uint32_t taint);
[[nodiscard]] std::uint32_t get_taint(const Warp& warp, std::uint32_t reg, std::uint32_t bytes,
                                      int lane);

/// Reports, once for each instruction, that the warp's current instruction uses uninitialised data
/// in `lanes`. `purpose`: the end of "uninitialised data …", such as "decide what is executed".
void report_tainted_use(Warp& warp, std::uint32_t lanes, const char* purpose);

}  // namespace evo::ptx
