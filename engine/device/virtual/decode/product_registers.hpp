#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Finds the instructions that may touch registers of a wgmma in flight, and each wgmma for which
/// some path has no wgmma.fence after the last write to its registers. They get exec_checked as
/// their handler. Runs before registers are assigned, so registers are those of the PTX and not
/// shared.
void find_product_checks(Program& program);

}  // namespace evo::ptx
