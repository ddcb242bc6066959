#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

enum class AtomicOp : std::uint8_t { kAdd, kMin, kMax, kExch, kCas, kInc, kDec, kAnd, kOr, kXor };

/// The operands of atom and red.
struct AtomicOperands {
  Address address;
  std::uint32_t dst = kNoRegister;  ///< kNoRegister: red
  std::uint32_t operand = kNoRegister;
  std::uint32_t swap = kNoRegister;  ///< the value that cas stores
  Space space = Space::kGeneric;
  AccessOrder order;
  auto register_fields() { return std::tie(address.base, dst, operand, swap); }
};
/// The handler of an atomic operation on a type; null if the virtual GPU does not support it.
[[nodiscard]] Handler atomic_handler(AtomicOp op, Type type);

}  // namespace evo::ptx
