#pragma once

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The handler of a load of elements of `memory_bytes` (1, 2, 4, 8, 16), sign-extended or not, into
/// registers of `register_bytes` (2, 4, 8, 16). Destinations in Program::extra; nullptr when there
/// is no such combination.
[[nodiscard]] Handler load_handler(int memory_bytes, bool is_signed, int register_bytes);
/// The same for stores; sources in Program::extra.
[[nodiscard]] Handler store_handler(int memory_bytes, int register_bytes);
/// ld.param of a kernel parameter: dst from the parameter block at imm.
[[nodiscard]] Handler load_parameter_handler(int memory_bytes, bool is_signed, int register_bytes);

void exec_fence(Warp& warp, const Instr& in);
/// fence.proxy.async as far as shared memory is concerned; orders nothing else.
void exec_proxy_fence(Warp& warp, const Instr& in);

}  // namespace evo::ptx
