#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operands of ld and st: elements that are adjacent in memory and have a register each.
struct AccessOperands {
  Address address;
  RegisterList registers;
  Space space = Space::kGeneric;
  AccessOrder order;
  std::uint8_t bytes = 0;  ///< bytes of one element
  std::uint8_t count = 1;  ///< number of elements
  auto register_fields() { return std::tie(address.base); }
};
/// The handler that loads elements of `memory_bytes` (1, 2, 4, 8, 16) into registers of
/// `register_bytes` (2, 4, 8, 16), with sign extension if `is_signed`; null if PTX has no such
/// load.
[[nodiscard]] Handler load_handler(int memory_bytes, bool is_signed, int register_bytes);
/// The handler that stores registers as elements of `memory_bytes`; null if PTX has no such store.
[[nodiscard]] Handler store_handler(int memory_bytes, int register_bytes);

/// The operands of ld.param for a parameter of the kernel.
struct ParameterOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t offset = 0;  ///< in the parameter block
  auto register_fields() { return std::tie(dst); }
};
[[nodiscard]] Handler load_parameter_handler(int memory_bytes, bool is_signed, int register_bytes);

void exec_fence(Warp& warp, const Instr& in);
/// Executes a fence of CTA scope, which has no effect on other CTAs.
void exec_cta_fence(Warp& warp, const Instr& in);
/// Executes fence.proxy.async; only its effect on shared memory is modelled.
void exec_proxy_fence(Warp& warp, const Instr& in);

}  // namespace evo::ptx
