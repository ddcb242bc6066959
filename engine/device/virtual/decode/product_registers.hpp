#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Finds the instructions that may use a register of a wgmma in flight. Also finds each wgmma that
/// some path reaches without a wgmma.fence after the last write to the registers of the wgmma.
/// Makes exec_checked the handler of all these instructions. Call this function before slots are
/// assigned to PTX registers, because two PTX registers may share a slot afterwards.
void find_product_checks(Program& program);

}  // namespace evo::ptx
