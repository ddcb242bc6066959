#pragma once

#include <cstdint>
#include <tuple>

#include "engine/ptx/types.hpp"

// Types of the members of operand structs. Each family of instructions declares a struct for its
// operands in the header of its handlers. The member function register_fields() of a struct of
// operands returns references to all fields that hold a register, or an array of registers.

namespace evo::ptx {

struct Warp;
struct Instr;

/// A function that executes one decoded instruction for the lanes of `Warp::exec`.
using Handler = void (*)(Warp&, const Instr&);

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffU;
/// The size of a slot in the register file: 4 bytes for each of the 32 lanes of a warp. A 64-bit
/// register takes two slots, and a 128-bit register takes four. A 16-bit register uses the first
/// half of its slot, and a predicate the first word, with one bit per lane.
inline constexpr std::uint32_t kSlotBytes = 128;
inline constexpr std::uint32_t kNoRegister = 0xffffffffU;

/// A range of Program::registers, which may contain kNoRegister. A write to kNoRegister is
/// discarded.
struct RegisterList {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// The address of a memory access: a register plus an offset, or only an offset.
struct Address {
  std::uint32_t base = kNoRegister;
  bool is_wide = false;  ///< true: the register has 64 bits; false: 32
  std::int64_t offset = 0;
};

/// How a memory access is ordered with other accesses. An access with .relaxed, .volatile, .mmio,
/// .acquire or .release is strong, and so is an atomic.
struct AccessOrder {
  bool strong = false;
  bool acquire = false;
  bool release = false;
  bool of_cta = false;     ///< strong only among the threads of the CTA
  bool read_only = false;  ///< .nc: through the read-only data path
};

struct NoOperands {
  auto register_fields() { return std::tie(); }
};

}  // namespace evo::ptx
