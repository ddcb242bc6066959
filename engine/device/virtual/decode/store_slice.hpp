#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The part of a program that decides where it stores to global memory (a program slice, Weiser
/// 1981): the stores, what their addresses and guards are computed from, and the branches on which
/// any of these depends. What is stored is left out, and so are loops that only compute it; a
/// branch that is left out goes to where its paths meet again.
///
/// Or why there is none: an address or a branch depends on what is computed in shared memory, by
/// tensor cores, by other CTAs, or on a clock. Run it with LaunchContext::owners set, so that
/// stores are noted and nothing is written; loads of memory that kernels may write then end the
/// launch.
[[nodiscard]] std::variant<Program, std::string> slice_of_stores(const Program& program);

/// Likewise the part that decides whether and with which operands the `kept` instructions, one for
/// each of the program, are executed.
[[nodiscard]] std::variant<Program, std::string> slice_of(const Program& program,
                                                          std::vector<bool> kept);

}  // namespace evo::ptx
