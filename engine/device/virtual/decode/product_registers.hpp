#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Finds the instructions that may use registers of a wgmma in flight, and each wgmma to which a
/// path leads without a wgmma.fence after the last write to its registers. Sets exec_checked as the
/// handler of the instructions that it finds. Must run before registers are assigned, while PTX
/// registers do not share slots.
void find_product_checks(Program& program);

}  // namespace evo::ptx
