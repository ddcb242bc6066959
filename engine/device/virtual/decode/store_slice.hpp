#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The part of a program that decides where it stores to global memory (a program slice, Weiser
/// 1981): the stores, the instructions that compute their addresses and guards, and the branches on
/// which any of these depends. Stored values are left out, as are loops that only compute them. A
/// branch that is left out jumps to the point where its paths join.
///
/// Returns the reason as text if there is none: an address or a branch depends on shared memory,
/// tensor cores, other CTAs, or a clock. Run the slice with LaunchContext::owners set, so that
/// stores are recorded and nothing is written. Loads from memory that kernels may write then end
/// the launch.
[[nodiscard]] std::variant<Program, std::string> slice_of_stores(const Program& program);

/// The same for the part that decides whether the `kept` instructions (one flag for each of the
/// program) are executed, and with which operands.
[[nodiscard]] std::variant<Program, std::string> slice_of(const Program& program,
                                                          std::vector<bool> kept);

}  // namespace evo::ptx
