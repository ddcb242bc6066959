#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Finds the instructions that may touch registers of a wgmma in flight, and the wgmma that no
/// wgmma.fence separates from the last write to their registers, along any path of the entry; they
/// get exec_checked as their handler. Before registers are assigned: registers are those of the
/// PTX, not yet shared.
void find_product_checks(Program& program);

}  // namespace evo::ptx
