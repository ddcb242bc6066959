#include <cstring>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"

// mov between a scalar register and the vector of its parts.

namespace evo::ptx {

void exec_pack(Warp& warp, const Instr& in) {
  const auto* elements = warp.cta->program().extra.data() + in.extra;
  const std::size_t total = static_cast<std::size_t>(in.bytes) * in.extra_count;
  alignas(64) std::byte value[kWarpSize * 16];
  for (std::size_t e = 0; e < in.extra_count; ++e) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      std::memcpy(value + lane * total + e * in.bytes, warp.regs + elements[e] + lane * in.bytes,
                  in.bytes);
    }
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if (((warp.exec >> lane) & 1U) != 0)
      std::memcpy(warp.regs + in.dst + lane * total, value + lane * total, total);
  }
}

void exec_unpack(Warp& warp, const Instr& in) {
  const auto* elements = warp.cta->program().extra.data() + in.extra;
  const std::size_t total = static_cast<std::size_t>(in.bytes) * in.extra_count;
  alignas(64) std::byte value[kWarpSize * 16];
  std::memcpy(value, warp.regs + in.src[0], kWarpSize * total);
  for (std::size_t e = 0; e < in.extra_count; ++e) {
    if (elements[e] == kNoRegister) continue;
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      if (((warp.exec >> lane) & 1U) == 0) continue;
      std::memcpy(warp.regs + elements[e] + lane * in.bytes, value + lane * total + e * in.bytes,
                  in.bytes);
    }
  }
}

}  // namespace evo::ptx
