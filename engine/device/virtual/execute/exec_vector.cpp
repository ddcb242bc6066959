#include "engine/device/virtual/execute/exec_vector.hpp"

#include <cstring>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

// mov between a scalar register and the vector of its parts.

namespace evo::ptx {

void exec_pack(Warp& warp, const Instr& in) {
  const auto& op = in.as<PackOperands>();
  const auto* elements = warp.cta->program().registers_of(op.parts);
  const std::size_t total = static_cast<std::size_t>(op.part_bytes) * op.parts.count;
  alignas(64) std::byte value[kWarpSize * 16];
  for (std::size_t e = 0; e < op.parts.count; ++e) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      std::memcpy(value + lane * total + e * op.part_bytes,
                  warp.regs + elements[e] + lane * op.part_bytes, op.part_bytes);
    }
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if (((warp.exec >> lane) & 1U) != 0)
      std::memcpy(warp.regs + op.dst + lane * total, value + lane * total, total);
  }
}

void exec_unpack(Warp& warp, const Instr& in) {
  const auto& op = in.as<UnpackOperands>();
  const auto* elements = warp.cta->program().registers_of(op.parts);
  const std::size_t total = static_cast<std::size_t>(op.part_bytes) * op.parts.count;
  alignas(64) std::byte value[kWarpSize * 16];
  std::memcpy(value, warp.regs + op.source, kWarpSize * total);
  for (std::size_t e = 0; e < op.parts.count; ++e) {
    if (elements[e] == kNoRegister) continue;
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      if (((warp.exec >> lane) & 1U) == 0) continue;
      std::memcpy(warp.regs + elements[e] + lane * op.part_bytes,
                  value + lane * total + e * op.part_bytes, op.part_bytes);
    }
  }
}

}  // namespace evo::ptx
