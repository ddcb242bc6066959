#pragma once

#include <cstdint>

#include "engine/ptx/types.hpp"

// What the operands of decoded instructions are made of. Each family of instructions has a struct
// of operands beside its handlers; `each_register` of such a struct calls a function with every
// field that is a register.

namespace evo::ptx {

struct Warp;
struct Instr;

/// Executes one decoded instruction for the lanes of `Warp::exec`.
using Handler = void (*)(Warp&, const Instr&);

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffU;
/// A register occupies one slot of 32 × 4 bytes (64-bit: two, 128-bit: four); 16-bit registers use
/// the first half of theirs, predicates the first word (one bit a lane).
inline constexpr std::uint32_t kSlotBytes = 128;
inline constexpr std::uint32_t kNoRegister = 0xffffffffU;

/// Registers one after the other in Program::registers; kNoRegister for a sink.
struct RegisterList {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Where an access goes: a register and an offset, or the offset alone.
struct Address {
  std::uint32_t base = kNoRegister;
  bool is_wide = false;  ///< the register has 64 bits, else 32
  std::int64_t offset = 0;
};

/// How an access is ordered with others: .relaxed and .volatile are strong, .acquire and .release
/// too.
struct AccessOrder {
  bool strong = false;
  bool acquire = false;
  bool release = false;
  bool of_cta = false;     ///< strong among the threads of the CTA only
  bool read_only = false;  ///< .nc: by the path for data that nobody writes
};

struct NoOperands {
  template <typename F>
  void each_register(F&& /*visit*/) {}
};

}  // namespace evo::ptx
