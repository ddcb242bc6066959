#include "engine/device/virtual/execute/exec_vector.hpp"

#include <cstring>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

// Executes mov between a scalar register and a vector of smaller registers.

namespace evo::ptx {

namespace {

// The size of a vector element is a template argument, so that the memcpy of an element compiles to
// one instruction.

/// The bytes of a register that holds an element of `part` bytes: a byte has a 16-bit register.
constexpr std::size_t register_of(std::size_t part) { return part == 1 ? 2 : part; }

template <std::size_t kPart>
void pack(Warp& warp, const PackOperands& op) {
  const auto* elements = warp.cta->program().registers_of(op.parts);
  const std::size_t total = kPart * op.parts.count;
  alignas(64) std::byte value[kWarpSize * 16];
  for (std::size_t e = 0; e < op.parts.count; ++e) {
    const std::byte* part = warp.regs + elements[e];
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      std::memcpy(value + lane * total + e * kPart, part + lane * register_of(kPart), kPart);
  }
  if (warp.exec == kAllLanes) {
    std::memcpy(warp.regs + op.dst, value, kWarpSize * total);
    return;
  }
  for_lanes<std::size_t>(warp.exec, [&](std::size_t lane) {
    std::memcpy(warp.regs + op.dst + lane * total, value + lane * total, total);
  });
}

template <std::size_t kPart>
void unpack(Warp& warp, const UnpackOperands& op) {
  const auto* elements = warp.cta->program().registers_of(op.parts);
  const std::size_t total = kPart * op.parts.count;
  alignas(64) std::byte value[kWarpSize * 16];
  std::memcpy(value, warp.regs + op.source, kWarpSize * total);
  for (std::size_t e = 0; e < op.parts.count; ++e) {
    if (elements[e] == kNoRegister) continue;
    std::byte* part = warp.regs + elements[e];
    for_lanes<std::size_t>(warp.exec, [&](std::size_t lane) {
      std::memcpy(part + lane * register_of(kPart), value + lane * total + e * kPart, kPart);
      if (kPart == 1) part[lane * 2 + 1] = std::byte{0};
    });
  }
}

}  // namespace

void exec_pack(Warp& warp, const Instr& in) {
  const auto& op = in.as<PackOperands>();
  if (op.part_bytes == 1) return pack<1>(warp, op);
  if (op.part_bytes == 2) return pack<2>(warp, op);
  if (op.part_bytes == 4) return pack<4>(warp, op);
  pack<8>(warp, op);
}

void exec_unpack(Warp& warp, const Instr& in) {
  const auto& op = in.as<UnpackOperands>();
  if (op.part_bytes == 1) return unpack<1>(warp, op);
  if (op.part_bytes == 2) return unpack<2>(warp, op);
  if (op.part_bytes == 4) return unpack<4>(warp, op);
  unpack<8>(warp, op);
}

}  // namespace evo::ptx
